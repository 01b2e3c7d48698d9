"use strict";
/* The page of a table. It shows the server's drawings and contains no rules: the server sends with
   every position the places that can be clicked, in the order of the clicks. */

const SVG = "http://www.w3.org/2000/svg";
const KEPT = 40; // maximum number of stored boards (pictures of positions)
const NARROW = 40; // in units of the picture: narrower places are marked with a dot
const LEGIBLE = 0.4; // pixels per unit of the picture; with fewer, the board is enlarged and scrolls
const dark = matchMedia("(prefers-color-scheme: dark)");
let setup = null; // the data of the table that stay the same during the game
let seat = null; // the seat for which the page shows the game; null for an onlooker
let view = null; // the newest position, as the server sent it
let shown = -1; // the number of the position on the board
let told = 0; // number of decisions that the page has described in the list
let picked = []; // places clicked so far
let running = false; // whether positions are being shown one after another
let hurry = false; // whether to show the newest position immediately
let busy = false; // whether a request is waiting for its response
let stream = null; // the connection for the server's events, or null
const boards = new Map(); // the parts of the stored boards, by the board's name
let board = null; // the name of the board that is shown
let colours = {}; // the colours of the board, by theme
let asked = ""; // the action that a person must confirm, because it cannot be taken back
let large = null; // whether the board is zoomed; null until somebody presses Zoom

const sleep = (time) => new Promise((done) => { setTimeout(done, time); });
const say = (text) => { byId("answer").replaceChildren(...marked(text)); };
const mine = () => setup.seats.includes(view.mover);
/** Return the address of a position as the seat sees it. After the end, use the chosen view. */
const query = (more) => {
  const asked = { ...(board && { have: board }), ...more };
  const who = view && view.over ? byId("look").value : seat;
  if (who !== null && who !== "onlooker") asked.seat = who;
  return `view?${new URLSearchParams(asked)}`;
};

// --- following the game ---------------------------------------------------------------------------

async function start() {
  setup = await ask("table");
  byId("title").textContent = `${setup.game}: ${setup.names.join(", ")}`;
  document.title = byId("title").textContent;
  byId("rules").replaceChildren(...rulesOf(setup.how, setup.rules && `rules?game=${setup.name}`));
  showLegend(setup.legend);
  byId("notation").replaceChildren(...marked(setup.notation));
  for (const id of ["adviser", "student"]) {
    byId(id).replaceChildren(...setup.players.map(([spec]) => make("option", {}, spec)));
  }
  seat = setup.seats.length ? setup.seats[0] : null;
  try { byId("speed").value = localStorage.getItem("speed") ?? "700"; } catch { /* the speed is not stored */ }
  if (!byId("speed").value) byId("speed").value = "700";
  const first = await ask(query({}));
  if (setup.seats.length > 1 && setup.secrets && !first.over) {
    await handOver(setup.seats.includes(first.mover) ? first.mover : seat);
  }
  told = Math.max(0, first.last - 30);
  shown = first.last - 1;
  await refresh();
  listen();
}

/** Show the signs of the drawing and of the page, with their meanings. */
function showLegend({ signs, definitions }) {
  byId("signs").hidden = byId("learn-signs").hidden = !signs.length;
  byId("sign-definitions").innerHTML = `<defs>${definitions.join("")}</defs>`;
  const own = [['<path class="here" d="M-24 -24H24V24H-24Z"/>', "A dashed edge: this place can be clicked now."],
    ['<circle class="dot" r="8"/>', "A dot: this line can be clicked now."]];
  byId("legend").replaceChildren(...[...signs, ...own].map(([markup, words]) => {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "-32 -32 64 64");
    svg.setAttribute("aria-hidden", "true");
    svg.innerHTML = markup;
    return make("li", {}, svg, words);
  }));
}

/** Listen for changes. A hidden page does not, because a browser allows only six connections. */
function listen() {
  if (stream) stream.close();
  stream = null;
  if (document.hidden) return;
  stream = new EventSource("events");
  stream.onmessage = (event) => { if (!view || event.data !== view.version) refresh(); };
}

/** Request the newest position, and show the decisions since the last one, one after another. */
async function refresh(fresh) {
  if (running) { refresh.again = true; return; }
  running = true;
  try {
    do {
      refresh.again = false;
      await catchUp(fresh);
      fresh = undefined;
    } while (refresh.again);
    byId("said").textContent = status();
  } catch (error) {
    byId("said").textContent = error.message;
    setTimeout(() => refresh(), 2000);
  } finally {
    running = false;
    hurry = false;
  }
  if (setup.seats.length > 1 && !view.over && mine() && view.mover !== seat) {
    if (setup.secrets) await handOver(view.mover);
    seat = view.mover;
    refresh();
  }
}

async function catchUp(fresh) {
  let next = fresh ?? await ask(query({ since: told }));
  if (next.last < told) { told = next.last; shown = Math.min(shown, told); trim(told); }
  const own = fresh !== undefined;
  while (shown < next.last - 1 && Number(byId("speed").value) > 0 && !hurry && !own) {
    const step = await ask(query({ at: shown + 1, since: told }));
    show(step);
    byId("said").textContent = `Decision ${step.number} of ${step.last}`;
    await sleep(Number(byId("speed").value));
    if (refresh.again) { refresh.again = false; next = await ask(query({ since: told })); }
  }
  view = next;
  if (view.over && !byId("look").value) {
    offerLooks();
    byId("think").textContent = view.last ? "about every position" : "about this position";
    view = await ask(query({ since: told }));
  }
  show(view);
}

/** Offer all views of the board in a finished game, in which everybody may see everything. */
function offerLooks() {
  const seats = setup.seats.map((own) => make("option", { value: own }, `as ${setup.names[own]}`));
  byId("look").replaceChildren(make("option", { value: "all" }, "everything"), ...seats,
    make("option", { value: "onlooker" }, "as an onlooker"));
}

function trim(last) {
  while (byId("news").children.length && Number(byId("news").lastChild.dataset.number) >= last) {
    byId("news").lastChild.remove();
  }
}

function status() {
  if (view.over) return view.over;
  if (view.trouble) return view.trouble;
  const name = setup.names[view.mover];
  if (view.mover === seat) return `${name}: it is your turn.`;
  return setup.people[view.mover] ? `${name} is to move.` : `${name} is thinking …`;
}

// --- the board ------------------------------------------------------------------------------------

/** Show a position: its picture, the decisions before it in words, and its actions. */
function show(position) {
  shown = position.number;
  draw(position);
  const from = position.number - position.news.length, hear = [];
  position.news.forEach((item, k) => {
    if (from + k < told) return;
    const line = make("li", { "data-number": from + k, class: item.seat === seat ? "own" : "" },
      item.words.join(" "), " ", make("code", {}, item.text));
    byId("news").append(line);
    const words = item.words.join(" ");
    if (item.summary && item.summary !== words && item.seat !== seat) {
      byId("news").append(make("li", { "data-number": from + k, class: "turn" }, item.summary));
    }
    if (item.seat === seat) hear.push(words);
    else if (item.summary) hear.push(item.summary);
  });
  if (hear.length) byId("heard").textContent = hear.slice(-4).join(" ");
  told = Math.max(told, position.number);
  while (byId("news").children.length > 300) byId("news").firstChild.remove();
  byId("news").scrollTop = byId("news").scrollHeight;
  byId("place").textContent = `${position.number} / ${position.last}`;
  picked = [];
  offer(position);
}

/** Replace the parts of the picture that differ in a position. */
function draw(position) {
  if (position.text !== undefined) {
    byId("picture").replaceChildren(make("pre", {}, position.text));
    return;
  }
  const parts = position.base ? boards.get(position.base).slice() : [];
  for (const [number, markup] of position.parts) parts[number] = markup;
  boards.delete(position.board);
  boards.set(position.board, parts);
  if (boards.size > KEPT) boards.delete(boards.keys().next().value);
  board = position.board;
  const svg = position.sheet ? newPicture(position.sheet) : byId("picture").querySelector("svg");
  const [definitions, ground] = svg.children;
  for (const markup of position.definitions) {
    const [, id] = markup.match(/\bid="([^"]*)"/);
    if (!element(id)) definitions.insertAdjacentHTML("beforeend", markup);
  }
  while (ground.childElementCount > parts.length) ground.lastChild.remove();
  parts.forEach((markup, number) => {
    const part = ground.children[number] ?? ground.appendChild(document.createElementNS(SVG, "g"));
    if (part.markup !== markup) part.innerHTML = part.markup = markup;
  });
  svg.setAttribute("aria-label", position.title);
}

function newPicture(sheet) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${sheet.width} ${sheet.height}`);
  svg.setAttribute("role", "img");
  svg.append(document.createElementNS(SVG, "defs"), document.createElementNS(SVG, "g"));
  byId("picture").replaceChildren(svg);
  zoom(large ?? byId("stage").clientWidth < LEGIBLE * sheet.width);
  colours = sheet.colours;
  paint();
  return svg;
}

function zoom(on) {
  byId("picture").classList.toggle("large", on);
  byId("picture").tabIndex = on ? 0 : -1; // keys scroll the picture when it has the focus
  byId("zoom").setAttribute("aria-pressed", on);
}

/** Scroll a zoomed board to the first of these places, unless one of them is in view. */
function bringInView(places) {
  const picture = byId("picture"), seen = picture.getBoundingClientRect();
  const aside = places.map((place) => {
    const box = place.getBoundingClientRect();
    return [box.left + box.width / 2 - seen.left - seen.width / 2, box.top + box.height / 2 - seen.top - seen.height / 2];
  });
  const near = ([x, y]) => Math.abs(x) < seen.width / 2 && Math.abs(y) < seen.height / 2;
  if (aside.length && !aside.some(near)) picture.scrollBy(...aside[0]);
}

function paint() {
  const svg = byId("picture").querySelector("svg");
  for (const one of [svg, byId("signs")]) if (one) one.style.cssText = colours[dark.matches ? "dark" : "light"];
}

const element = (place) => byId("picture").querySelector(`[id="${CSS.escape(place)}"]`);
const actions = () => (view && shown === view.last && view.actions ? view.actions : []);
const placesOf = (action) => action.slice(3);

/** Offer the legal actions: highlight their places, and list the actions without places. */
function offer(position) {
  const active = position === view && position.actions;
  byId("question").textContent = active ? position.question : "";
  byId("undo").disabled = !(position === view && position.undo);
  byId("hint").disabled = !active;
  byId("resign").disabled = Boolean(position.over);
  byId("retry").hidden = !position.trouble || seat === null;
  byId("after").hidden = !position.over || seat === null || position.number < position.last;
  byId("during").hidden = byId("typing").hidden = Boolean(position.over) || seat === null;
  showResult(position);
  byId("look-label").hidden = byId("study").hidden = !position.over;
  byId("side").classList.toggle("active", Boolean(active));
  say("");
  asked = "";
  hideMenu();
  for (const place of byId("picture").querySelectorAll(".about")) place.classList.remove("about");
  light();
  const numbers = actions().filter((action) => placesOf(action).length === 0 && action[2] !== null);
  const plain = actions().filter((action) => placesOf(action).length === 0 && action[2] === null);
  byId("amount").hidden = numbers.length < 2;
  if (numbers.length >= 2) offerNumbers(numbers);
  byId("choices").replaceChildren(...(numbers.length === 1 ? numbers : []).concat(plain).map(button));
  if (setup.places.length === 0 && plain.length > 12) offerList(plain);
  const about = (position.about ?? []).map(element).filter(Boolean);
  for (const place of about) place.classList.add("about");
  bringInView(about.length ? about : [...byId("picture").querySelectorAll(".can")]);
}

/** Show the result of a finished game, with its details. */
function showResult(position) {
  byId("result").hidden = !position.over || position.number < position.last;
  byId("winner").textContent = position.over ?? "";
  byId("reasons").replaceChildren(...position.result.map((words) => make("li", {}, words)));
}

/** Offer actions without places to click as a list with a filter. */
function offerList(plain) {
  const filter = make("input", { "aria-label": "Filter the actions", placeholder: "filter" });
  const list = make("div", {}, ...plain.map(button));
  filter.addEventListener("input", () => list.replaceChildren(
    ...plain.filter((action) => action[0].includes(filter.value)).map(button)));
  byId("choices").replaceChildren(filter, list);
}

function button(action) {
  const words = setup.families[action[1]];
  return make("button", { class: "choice", onclick: () => play(action[0]) }, make("b", {}, action[0]), ` ${words}`);
}

/** Return the warning about an action if it cannot be taken back, otherwise an empty text. */
function warning(text) {
  const action = actions().find((one) => one[0] === text);
  return (action && view.warnings[action[1]]) || "";
}

/** Ask a person to confirm an action that cannot be taken back. A double click does not confirm. */
function askFirst(text) {
  asked = text;
  picked = [];
  light();
  say("");
  const yes = make("button", { class: "choice", onclick: (event) => { if (event.detail < 2) play(text, true); } },
    "Yes: ", make("b", {}, text));
  const no = make("button", { onclick: () => { offer(view); byId("choices").querySelector("button")?.focus(); } }, "No");
  const box = make("div", { class: "sure", role: "group", "aria-label": warning(text) },
    make("p", {}, warning(text)), make("span", { class: "row" }, yes, no));
  byId("choices").querySelector(".sure")?.remove();
  byId("choices").prepend(box);
  yes.focus();
}

function offerNumbers(numbers) {
  const amounts = numbers.map((action) => action[2]);
  const least = Math.min(...amounts), most = Math.max(...amounts);
  for (const id of ["slider", "number"]) {
    Object.assign(byId(id), { min: least, max: most, value: most });
  }
  byId("number").focus();
  byId("number").select();
  byId("amount").onsubmit = (event) => {
    event.preventDefault();
    const action = numbers.find((one) => one[2] === Number(byId("number").value));
    if (action) play(action[0]); else say(`Enter a number from ${least} to ${most}.`);
  };
}

/** Highlight the places that can be clicked next. */
function light() {
  for (const lit of byId("picture").querySelectorAll(".can, .picked")) {
    lit.classList.remove("can", "picked", "narrow");
    lit.querySelector(":scope > .mark")?.remove();
    lit.removeAttribute("tabindex");
    lit.removeAttribute("role");
  }
  for (const place of picked) element(place)?.classList.add("picked");
  for (const place of new Set(matching().map((action) => placesOf(action)[picked.length]))) {
    const lit = place && element(place);
    if (!lit) continue;
    lit.classList.add("can");
    lit.setAttribute("tabindex", "0");
    lit.setAttribute("role", "button");
    const area = lit.querySelector(":scope > [pointer-events=all]");
    const box = area ? area.getBBox() : { width: Infinity, height: Infinity };
    if (Math.min(box.width, box.height) < NARROW) {
      const mark = document.createElementNS(SVG, "circle");
      for (const [key, value] of Object.entries({
        class: "mark", r: 8, cx: box.x + box.width / 2, cy: box.y + box.height / 2,
      })) mark.setAttribute(key, value);
      lit.classList.add("narrow");
      lit.append(mark);
    }
  }
}

/** Return the actions whose places begin with the places that have been clicked so far. */
function matching(places = picked) {
  return actions().filter((action) => places.every((place, k) => placesOf(action)[k] === place));
}

function choose(place) {
  if (!view) return;
  if (shown !== view.last) { say("This is an earlier position. ▶| shows the newest one."); return; }
  if (!view.actions) { say(status()); return; }
  hideMenu();
  if (asked) offer(view);
  if (picked.includes(place)) { picked = []; light(); return; }
  let fit = matching([...picked, place]);
  if (!fit.length && picked.length && matching([place]).length) { picked = []; fit = matching([place]); }
  if (!fit.length) { askWhy([...picked, place]); return; }
  picked.push(place);
  const done = fit.filter((action) => placesOf(action).length === picked.length);
  // A single click never plays an action with a number or a warning. It opens the menu.
  const plain = picked.length > 1 || (done.length && done[0][2] === null && !warning(done[0][0]));
  if (done.length === 1 && fit.length === 1 && plain) { play(done[0][0], true); return; }
  light();
  if (done.length) showMenu(place, done, fit.length > done.length);
  say(fit.length > done.length ? "Now click the second place, or click the first one again to cancel." : "");
}

async function askWhy(places) {
  try {
    const { why } = await ask("why", { seat, places });
    say(why.join("\n") || "Nothing can be done there.");
  } catch (error) { say(error.message); }
}

/** Show a menu of actions beside the last place that was clicked. Number keys choose an action. */
function showMenu(place, found, more) {
  const menu = byId("menu"), box = element(place).getBoundingClientRect();
  const around = byId("stage").getBoundingClientRect(), families = [...new Set(found.map((a) => a[1]))];
  menu.replaceChildren(...families.flatMap((family) => [
    make("p", {}, [setup.families[family], view.warnings[family]].filter(Boolean).join(". ")),
    make("div", { class: "row" }, ...found.filter((a) => a[1] === family).map((action) =>
      make("button", { role: "menuitem", "data-key": action[2] ?? "", onclick: () => play(action[0], true) }, action[0]))),
  ]));
  menu.append(make("p", {}, more ? "… or click a second place." : "… or click elsewhere to cancel."));
  menu.hidden = false;
  let left = Math.min(box.left - around.left + box.width / 2, around.width - menu.offsetWidth - 4);
  let top = box.bottom - around.top + 4;
  if (top + menu.offsetHeight > around.height) top = Math.max(0, box.top - around.top - menu.offsetHeight - 4);
  if (more) { // put the menu below the map, so that people can click a second place
    left = (around.width - menu.offsetWidth) / 2;
    top = around.height - menu.offsetHeight - 4;
  }
  menu.style.left = `${Math.max(0, left)}px`;
  menu.style.top = `${top}px`;
  if (!more) menu.querySelector("button").focus({ preventScroll: true });
}

function hideMenu() { byId("menu").hidden = true; }

// --- people's requests ----------------------------------------------------------------------------

/** Send a request of the seat to the server, and show the result. */
async function send(address, more) {
  if (busy) return;
  busy = true;
  try {
    const found = await ask(address, { seat, version: view.version, have: board, since: told, ...more });
    if (found.said !== undefined) { say(found.said); return; }
    byId("typed").value = "";
    hurry = running;
    await refresh(running ? undefined : found);
  } catch (error) {
    say(error.message);
    if (error instanceof Refused) refresh();
  } finally { busy = false; }
}

/** Play an action. Without `sure`, first ask for a confirmation if it cannot be taken back. */
function play(text, sure = false) {
  hideMenu();
  if (!sure && warning(text)) { askFirst(text); return undefined; }
  return send("act", { action: text });
}

async function hint() {
  say("Thinking …");
  try {
    const found = await ask("hint", { seat, player: byId("adviser").value });
    const likely = found.likely.map(([text, chance]) => `${text} ${Math.round(100 * chance)} %`);
    const value = found.value === null ? "" : `\nIt expects ${found.value > 0 ? "+" : ""}${found.value} (−1 is a loss, +1 a win).`;
    say(`${found.player} would play ${found.action}: ${found.words}.${likely.length ? `\n${likely.join(", ")}` : ""}${value}`);
    for (const place of found.places) element(place)?.classList.add("about");
  } catch (error) { say(error.message); }
}

/** Let a player think about the finished game, and show its progress. */
async function study(player) {
  byId("think").disabled = true;
  try {
    let found = await ask("study", player === undefined ? undefined : { player });
    while (found.thinking) {
      byId("thinking").textContent = `${found.thinking} is thinking.`;
      Object.assign(byId("progress"), { hidden: false, max: found.of, value: found.done });
      await sleep(700);
      found = await ask("study");
    }
    byId("thinking").textContent = found.trouble
      || (found.asked.length ? `The replay shows the thoughts of ${found.asked.join(", ")}.` : "");
  } catch (error) { byId("thinking").textContent = error.message; }
  byId("progress").hidden = true;
  byId("think").disabled = false;
}

async function again(more) {
  try {
    const { key } = await ask("again", { seat, version: view.version, ...more });
    if (key) location.href = `../${key}/`;
  } catch (error) { say(error.message); }
}

/** Hide the board until the next person at this screen presses the button. */
function handOver(next) {
  byId("picture").replaceChildren();
  board = null;
  byId("news").replaceChildren();
  byId("choices").replaceChildren();
  byId("question").textContent = "";
  hideMenu();
  say("");
  byId("hand").textContent = `It is ${setup.names[next]}'s turn. Only ${setup.names[next]} should look now.`;
  return new Promise((done) => {
    byId("take").onclick = () => {
      byId("curtain").close();
      seat = next;
      told = Math.max(0, (view ? view.last : 0) - 30);
      shown = view ? view.last - 1 : -1;
      done();
    };
    byId("curtain").oncancel = (event) => event.preventDefault();
    byId("curtain").showModal();
  });
}

async function step(number) {
  if (!view || running) return;
  const wanted = Math.max(0, Math.min(view.last, number));
  try {
    if (wanted === view.last) view = await ask(query({ since: wanted }));
    show(wanted === view.last ? view : await ask(query({ at: wanted, since: wanted })));
  } catch (error) { say(error.message); }
}

// --- events ---------------------------------------------------------------------------------------

function placeAt(target) {
  for (let at = target; at && at !== byId("picture"); at = at.parentNode) {
    if (at.id && setup.places.includes(at.id)) return at.id;
  }
  return null;
}

byId("picture").addEventListener("click", (event) => {
  const place = placeAt(event.target);
  if (place) choose(place); else { picked = []; hideMenu(); light(); }
});
byId("slider").addEventListener("input", () => { byId("number").value = byId("slider").value; });
byId("number").addEventListener("input", () => { byId("slider").value = byId("number").value; });
byId("typing").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("typed").value.trim();
  if (warning(text) && asked !== text) {
    asked = text;
    say(`${warning(text)} Press Enter again to do it.`);
  } else if (text) send("ask", { text });
});
byId("undo").addEventListener("click", () => send("undo"));
byId("hint").addEventListener("click", hint);
byId("retry").addEventListener("click", () => send("retry"));
byId("resign").addEventListener("click", () => {
  if (confirm("Resign this game?")) send("resign");
});
byId("zoom").addEventListener("click", () => {
  large = !byId("picture").classList.contains("large");
  zoom(large);
});
for (const id of ["learn", "learn-signs"]) byId(id).addEventListener("click", () => { byId("how").open = true; });
byId("think").addEventListener("click", () => study(byId("student").value));
byId("same").addEventListener("click", () => again({ same: true, move_on: false }));
byId("new").addEventListener("click", () => again({ same: false, move_on: false }));
byId("swap").addEventListener("click", () => again({ same: false, move_on: true }));
byId("first").addEventListener("click", () => step(0));
byId("back").addEventListener("click", () => step(shown - 1));
byId("forth").addEventListener("click", () => step(shown + 1));
byId("now").addEventListener("click", () => { hurry = true; step(Infinity); });
byId("speed").addEventListener("change", () => {
  try { localStorage.setItem("speed", byId("speed").value); } catch { /* the speed is not stored */ }
});
byId("look").addEventListener("change", () => step(shown));
dark.addEventListener("change", paint);
document.addEventListener("visibilitychange", () => { listen(); if (!document.hidden && view) refresh(); });

/** Return the nearest clickable place in a direction, for the arrow keys. */
function neighbour(from, across, down) {
  const middle = (place) => {
    const box = place.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const [x, y] = middle(from);
  let best = null, least = Infinity;
  for (const place of byId("picture").querySelectorAll(".can")) {
    const [px, py] = middle(place), ahead = (px - x) * across + (py - y) * down;
    const aside = Math.abs((px - x) * down) + Math.abs((py - y) * across);
    if (place !== from && ahead > 1 && ahead + 2 * aside < least) { best = place; least = ahead + 2 * aside; }
  }
  return best;
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

document.addEventListener("keydown", (event) => {
  const writing = event.target.closest("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || byId("curtain").open || !setup) return;
  if (event.key === "Escape") {
    picked = [];
    hideMenu();
    if (asked) offer(view);
    light();
    if (writing) event.target.blur();
    hurry = true;
    return;
  }
  if (writing) return;
  const onPlace = event.target.closest(".can"), menu = byId("menu");
  if (!menu.hidden && /^[0-9]$/.test(event.key)) {
    const buttons = [...menu.querySelectorAll("button")];
    const found = buttons.find((one) => one.dataset.key === event.key);
    if (found) found.click();
    return;
  }
  if (onPlace && ARROWS[event.key]) {
    event.preventDefault();
    neighbour(onPlace, ...ARROWS[event.key])?.focus();
    return;
  }
  if (onPlace && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    const place = onPlace.id;
    choose(place);
    return;
  }
  const keys = {
    "/": () => byId("typed").focus(),
    "b": () => byId("picture").querySelector(".can")?.focus(),
    "u": () => { if (!byId("undo").disabled) send("undo"); },
    "h": () => { if (!byId("hint").disabled) hint(); },
    "?": () => { byId("how").open = !byId("how").open; byId("how").scrollIntoView(); },
    "ArrowLeft": () => step(shown - 1),
    "ArrowRight": () => step(shown + 1),
    "Home": () => step(0),
    "End": () => { hurry = true; step(Infinity); },
  };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});

// Until this line has run, clicks and submitted forms would be lost.
document.querySelector("main").inert = false;
start().catch((error) => {
  byId("said").textContent = `${error.message} Reload the page.`;
});
