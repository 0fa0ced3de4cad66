// Keys, and the seconds that a sheet is in view. Everything else works without this.
const form = document.getElementById("sheet");
const panel = document.getElementById("keys");
const toggle = document.getElementById("keys-on");
const seconds = document.getElementById("seconds");
const turns = [...document.querySelectorAll("article.speech")];
const OFF = "rostrum-keys-off";

let seen = 0;
let since = document.hidden ? null : performance.now();

function count() {
  if (since !== null) seen += performance.now() - since;
  since = document.hidden ? null : performance.now();
}

document.addEventListener("visibilitychange", count);
form.addEventListener("submit", () => {
  count();
  seconds.value = (seen / 1000).toFixed(1);
});

function remember(off) {
  try {
    if (off) localStorage.setItem(OFF, "1");
    else localStorage.removeItem(OFF);
  } catch {
    // A browser may forbid it; then the choice lasts for this page.
  }
}

function recall() {
  try {
    return localStorage.getItem(OFF) === "1";
  } catch {
    return false;
  }
}

function show() {
  document.body.classList.toggle("with-keys", toggle.checked);
}

function turn() {
  const at = turns.indexOf(document.activeElement?.closest("article.speech"));
  if (at >= 0) return at;
  return turns.findLastIndex((one) => one.getBoundingClientRect().top < innerHeight / 3);
}

function go(step) {
  const to = Math.min(Math.max(turn() + step, 0), turns.length);
  const target = turns[to] ?? document.getElementById("answer");
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "start" });
}

function thumb(value) {
  const at = turns[turn()];
  if (!at) return;
  const chosen = at.querySelector(`input[value="${value}"]`);
  const none = at.querySelector('input[value=""]');
  (chosen.checked ? none : chosen).click();
}

function choose(key) {
  const input = form.querySelector(`input[data-key="${key}"]`);
  if (!input || input.matches(":disabled")) return false;
  input.click();
  input.focus();
  return true;
}

const KEYS = {
  j: () => go(1),
  k: () => go(-1),
  "+": () => thumb("up"),
  "-": () => thumb("down"),
  n: () => document.getElementById("comment").focus(),
};

function writes(target) {
  return target.matches("textarea, select, input:not([type=radio], [type=checkbox])");
}

document.addEventListener("keydown", (event) => {
  const target = event.target instanceof Element ? event.target : document.body;
  if (event.isComposing || event.altKey || event.defaultPrevented) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit(document.getElementById("send"));
    return;
  }
  if (event.ctrlKey || event.metaKey || !toggle.checked) return;
  if (writes(target)) {
    if (event.key === "Escape") target.blur();
    return;
  }
  const key = event.key.toLowerCase();
  if (KEYS[key]) KEYS[key]();
  else if (!choose(key)) return;
  event.preventDefault();
});

toggle.checked = !recall();
toggle.addEventListener("change", () => {
  remember(!toggle.checked);
  show();
});
panel.hidden = false;
show();
document.getElementById("problem")?.scrollIntoView({ block: "center" });
