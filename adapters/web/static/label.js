// Keys, a draft of the answer, and the seconds that a sheet is in view. The rest works without this.
const form = document.getElementById("sheet");
const panel = document.getElementById("keys");
const toggle = document.getElementById("keys-on");
const seconds = document.getElementById("seconds");
const turns = [...document.querySelectorAll("article.speech")];
const OFF = "rostrum-keys-off";
const DRAFT = `rostrum-draft ${form.action}`;

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

// A browser may forbid storage; then what is stored lasts for this page.
function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {}
}

function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function keepDraft() {
  const given = [...new FormData(form)].filter(([name]) => name !== "token" && name !== "seconds");
  remember(DRAFT, JSON.stringify(given));
}

function restoreDraft() {
  for (const [name, value] of JSON.parse(recall(DRAFT) ?? "[]")) {
    const field = form.elements.namedItem(name);
    if (field) field.value = value;
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

form.addEventListener("input", keepDraft);
form.addEventListener("submit", () => remember(DRAFT, null));
restoreDraft();
toggle.checked = recall(OFF) === null;
toggle.addEventListener("change", () => {
  remember(OFF, toggle.checked ? null : "1");
  show();
});
panel.hidden = false;
show();
document.getElementById("problem")?.scrollIntoView({ block: "center" });
