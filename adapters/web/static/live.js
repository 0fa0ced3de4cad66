// A debate that goes on: what is new on its page is put in place, and nothing that is being read moves.
const debate = document.getElementById("debate");
const address = debate?.dataset.events;

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
  debate.querySelector("#state")?.replaceWith(document.adoptNode(now.querySelector("#state")));
  if (!now.dataset.events) {
    // The vote has closed: what follows the turns is complete now.
    stream.close();
    const shown = debate.querySelector("#turns");
    while (shown.nextSibling) shown.nextSibling.remove();
    const rest = now.querySelector("#turns");
    while (rest.nextSibling) debate.append(document.adoptNode(rest.nextSibling));
  }
}

if (address) follow();
