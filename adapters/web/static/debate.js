// A debate's page: keys that lead from turn to turn, and growth where nothing that is read moves.
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

function follow() {
  const stream = new EventSource(address);
  stream.addEventListener("grown", () => renew(stream));
  addEventListener("pagehide", () => stream.close(), { once: true });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); }, { once: true });
}

async function renew(stream) {
  const answer = await fetch(location.pathname + location.search);
  if (!answer.ok) return;
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

if (debate) addEventListener("keydown", step);
if (address) follow();
