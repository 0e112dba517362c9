// What is live on the pages, and their keys. Everything works without it, after a reload.
const csrf = document.querySelector('meta[name="csrf"]')?.content ?? "";
const base = document.querySelector('meta[name="base"]')?.content ?? "";
const MOST_ROWS = 200;
const FEW_ROWS = 8; // more new rows than these are not marked one by one: a reader cannot follow, and marking takes time

function fromHtml(html) {
  const made = document.createElement("template");
  made.innerHTML = html; // written by our own templates, which escape everything
  return made.content;
}

function fillForms(within) {
  for (const field of within.querySelectorAll('input[name="csrf"]')) field.value = csrf;
}

// Countdowns: the server says how many seconds are left; the clock of this machine has no part in it.
function startCountdowns(within) {
  for (const shown of within.querySelectorAll("[data-left]")) {
    shown.dataset.until = String(performance.now() + 1000 * Number(shown.dataset.left));
    shown.removeAttribute("data-left");
  }
}

function tick() {
  for (const shown of document.querySelectorAll("[data-until]")) {
    const left = Math.max(0, (Number(shown.dataset.until) - performance.now()) / 1000);
    const minutes = Math.floor(left / 60);
    shown.textContent = left ? `${minutes ? `${minutes}m ` : ""}${Math.floor(left % 60)}s left` : "its time is over";
    shown.classList.toggle("soon", left < 30);
  }
}

function showQuestions({questions}) {
  const count = document.getElementById("waiting-count");
  if (count) {
    count.textContent = String(questions.length);
    count.hidden = questions.length === 0;
  }
  document.title = document.title.replace(/^\(\d+\) /, "");
  if (questions.length) document.title = `(${questions.length}) ${document.title}`;
  const list = document.getElementById("waiting");
  if (!list) return;
  const now = new Set(questions.map((one) => one.id));
  for (const card of list.querySelectorAll(".card")) {
    if (!now.has(card.dataset.id) && !card.classList.contains("answered")) {
      // It keeps its place: nothing moves under the pointer of a person who is about to answer.
      card.classList.add("answered");
      for (const button of card.querySelectorAll("button, input")) button.disabled = true;
      const left = card.querySelector("[data-until]");
      if (left) { left.removeAttribute("data-until"); left.textContent = "answered, or over"; }
    }
  }
  for (const one of questions) {
    if (list.querySelector(`[data-id="${one.id}"]`)) continue;
    const made = fromHtml(one.html);
    fillForms(made);
    startCountdowns(made);
    list.append(made);
  }
  const empty = document.getElementById("no-question");
  if (empty) empty.hidden = list.querySelector(".card") !== null;
  tick();
}

function showEntries({html, count, left, sessions, sums, running}) {
  const held = document.getElementById("sums");
  if (held) held.replaceChildren(fromHtml(sums));
  const runs = document.getElementById("running");
  if (runs && !runs.querySelector(".selected, :focus")) runs.replaceChildren(fromHtml(running));
  const rows = document.getElementById("live-rows");
  if (rows) {
    const made = fromHtml(html);
    const newest = Number(rows.rows[0]?.dataset.record ?? 0);
    for (const row of made.querySelectorAll("tr")) {
      if (Number(row.dataset.record) <= newest) row.remove(); // it is listed
      else if (count <= FEW_ROWS) row.classList.add("new");
    }
    rows.prepend(made);
    while (rows.rows.length > MOST_ROWS) rows.lastElementChild.remove();
    document.getElementById("no-event")?.remove();
    const missed = document.getElementById("missed");
    if (missed && left > 0) missed.textContent = `${left.toLocaleString()} more came at once, and are not listed here`;
  }
  const more = document.getElementById("more-in-session");
  if (more && sessions.includes(more.dataset.session)) more.hidden = false;
}

// A browser has six connections for all tabs. A tab that is not seen gives its stream back, but for one, which tells the
// others of questions: their titles say how many wait.
function listen() {
  const state = document.getElementById("live");
  if (!state || !("EventSource" in window)) return;
  const others = new BroadcastChannel("interpose");
  let source, leads = false;
  function open() {
    const newest = document.querySelector("#live-rows tr")?.dataset.record;
    source = new EventSource(`${base}/live${newest ? `?after=${newest}` : ""}`);
    source.addEventListener("open", () => { state.dataset.state = "on"; state.textContent = "live"; });
    source.addEventListener("error", () => { state.dataset.state = "lost"; state.textContent = "not connected"; });
    source.addEventListener("entries", (event) => showEntries(JSON.parse(event.data)));
    source.addEventListener("questions", (event) => {
      showQuestions(JSON.parse(event.data));
      if (leads) others.postMessage(event.data);
    });
  }
  function close() {
    source?.close();
    source = undefined;
  }
  function choose() {
    if (leads || !document.hidden) source ?? open();
    else close();
  }
  others.addEventListener("message", (event) => { if (!source) showQuestions(JSON.parse(event.data)); });
  document.addEventListener("visibilitychange", choose);
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", choose);
  navigator.locks?.request("interpose", () => {
    leads = true;
    choose();
    return new Promise(() => {}); // until the tab is closed
  });
  choose();
}

// Keys: / search, j and k move, Enter opens, y and n answer the question that is selected.
const stops = () => [...document.querySelectorAll("[data-stop]")];

function select(step) {
  const all = stops();
  if (!all.length) return;
  const at = all.findIndex((one) => one.classList.contains("selected"));
  const next = all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
  for (const one of all) one.classList.toggle("selected", one === next);
  next.scrollIntoView({block: "nearest"});
}

function selectedCard() {
  const cards = [...document.querySelectorAll(".card[data-id]:not(.answered)")];
  const selected = cards.find((one) => one.classList.contains("selected"));
  return selected ?? (cards.length === 1 && cards[0].hasAttribute("data-whole") ? cards[0] : undefined);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "/") {
    document.getElementById("find")?.focus();
    event.preventDefault();
  } else if (event.key === "j" || event.key === "k") {
    select(event.key === "j" ? 1 : -1);
  } else if (event.key === "Enter" && !event.target.closest("a, button, summary")) {
    document.querySelector(".selected a")?.click();
  } else if (event.key === "y" || event.key === "n") {
    selectedCard()?.querySelector(event.key === "y" ? "button.yes" : "button.no")?.click();
  }
});

document.addEventListener("click", (event) => {
  const copy = event.target.closest("button[data-copy]");
  if (copy) {
    navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).textContent)
      .then(() => { copy.textContent = "copied"; }, () => { copy.textContent = "select it and copy"; });
  }
});

// What scrolls by itself can be reached with the keyboard.
function reachScrolling() {
  for (const one of document.querySelectorAll("pre.tall, .scroll")) {
    const scrolls = one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth;
    if (scrolls) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  }
}

for (const copy of document.querySelectorAll("button[data-copy]")) copy.hidden = false;
reachScrolling();
addEventListener("resize", reachScrolling);
fillForms(document);
startCountdowns(document);
tick();
setInterval(tick, 500);
listen();
if (document.querySelector("[data-running]")) setTimeout(() => location.reload(), 1500);
