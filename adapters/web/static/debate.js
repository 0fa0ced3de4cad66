// A debate's page: keys that lead from turn to turn, growth where nothing that is read moves, and
// the share sheet of a phone.
const debate = document.getElementById("debate");
const address = debate?.dataset.events;
const KEYS = { j: [1, ""], k: [-1, ""], a: [1, ".side-A"], b: [1, ".side-B"] };

function step(event) {
  const [ahead, side] = KEYS[event.key] ?? [];
  if (!ahead || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const turns = [...debate.querySelectorAll(`article.turn${side}`)];
  const here = 80; // pixels: below the row that sticks
  const tops = turns.map((turn) => Math.round(turn.getBoundingClientRect().top));
  const next = ahead > 0 ? tops.findIndex((top) => top > here) : tops.findLastIndex((top) => top < here - 40);
  if (next < 0) return;
  const title = turns[next].querySelector("h2");
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  turns[next].scrollIntoView({ block: "start" });
}

const FIRST = 1000, LONGEST = 60000; // milliseconds until a stream that was refused is asked for again
const stale = document.getElementById("stale");
let stream, pause = FIRST;

function follow() {
  stream = new EventSource(address);
  stream.addEventListener("grown", renew);
  stream.addEventListener("open", () => {
    pause = FIRST;
    if (!stale.hidden) renew(); // what was missed
  });
  stream.addEventListener("error", () => {
    miss();
    if (stream.readyState !== EventSource.CLOSED) return; // it comes back by itself, but not from a 502 or 503
    setTimeout(follow, pause * (0.5 + Math.random()));
    pause = Math.min(2 * pause, LONGEST);
  });
}

function miss() {
  if (!stale.hidden) return;
  const time = new Date().toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
  stale.textContent = stale.dataset.told.replace("{time}", time);
  stale.hidden = false;
}

async function renew() {
  const answer = await fetch(location.pathname + location.search).catch(() => null);
  if (!answer?.ok) {
    miss();
    if (stream.readyState === EventSource.OPEN) setTimeout(renew, pause * (0.5 + Math.random()));
    return;
  }
  stale.hidden = true;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const now = page.getElementById("debate");
  if (!now) return;
  const turns = debate.querySelector("#turns");
  for (const turn of now.querySelectorAll("#turns > article")) {
    if (!document.getElementById(turn.id)) turns.append(document.adoptNode(turn));
  }
  const ended = !now.dataset.events; // the vote has closed: all of it is complete now
  if (ended) stream.close();
  for (const part of ended ? ["#head", "nav.jumps", "#outline ol", "#after"] : ["#state", "#outline ol"]) {
    const fresh = now.querySelector(part);
    if (fresh) debate.querySelector(part)?.replaceWith(document.adoptNode(fresh));
  }
}

async function share(event) {
  const sending = event.target.closest("#send > summary")?.parentElement;
  if (!sending) return;
  const link = sending.querySelector("a");
  const told = (body) => link.download
    ? { files: [new File([body], link.download, { type: "text/html" })] }
    : { title: document.title, url: link.href };
  if (!navigator.canShare?.(told(""))) return; // what it holds opens instead
  event.preventDefault();
  const body = link.download ? await (await fetch(link.href)).blob() : "";
  await navigator.share(told(body)).catch((error) => { sending.open = error.name !== "AbortError"; });
}

debate?.addEventListener("click", share);
if (debate) addEventListener("keydown", step);
if (address) {
  follow();
  addEventListener("pagehide", () => stream.close());
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}
