// The script of a replay page. A view is a game as one seat, or everybody, sees it. A moment is one
// position of a view. A film contains the pieces of SVG of many pictures, and a frame selects the
// pieces of one picture. Texts in the data are inserted only as text. Only the parts of pictures,
// which armarl has drawn, are inserted as elements.

// Parts of pictures also have ids, so the ids of the page's other elements begin with `page-`.
const at = (id) => document.getElementById(`page-${id}`);
const data = JSON.parse(at("data").textContent);
const text = (number) => data.texts[number];

let game; // the game that is shown
let view; // the view of the game that is shown
let frames; // the frame of each moment of the view
let move = 0; // the number of actions before the position that is shown
let film; // the film that draws the picture
let timer = null;

// --- games and views ---------------------------------------------------------------------------

function openGame(number, where = 0, look = 0) {
  game = data.games[number];
  at("game").value = number;
  at("name").textContent = `${game.name}: ${game.players.join(", ")}`;
  at("view").replaceChildren(
    ...game.views.map((v, k) => new Option(v.seat === null ? "everybody" : game.players[v.seat], k)),
  );
  at("slider").max = last();
  openView(Math.min(look, game.views.length - 1), Math.min(where, last()));
}

function last() {
  return game.views[0].moments.length - 1;
}

function openView(number, where = move) {
  view = game.views[number];
  at("view").value = number;
  const head = data.films[view.film];
  if (!film || film.head !== head) {
    film = new Film(at("picture"), head);
    film.head = head;
    film.add(head);
    at("picture").setAttribute("class", `film${view.film}`);
  }
  let frame = [];
  frames = view.moments.map((moment) => (frame = changed(frame, moment.changes)));
  list();
  listThinkers();
  go(where);
}

// Lists the moves, under a heading for each turn.
function list() {
  const turns = [new Option("start", 0)];
  const found = [];
  view.moments.forEach((moment, k) => {
    if (k === 0) return;
    const mover = game.players[game.seats[k - 1]];
    const before = view.moments[k - 1];
    if (k === 1 || moment.turn !== before.turn || game.seats[k - 1] !== game.seats[k - 2]) {
      const heading = document.createElement("h3");
      heading.textContent = `${text(moment.turn)}: ${mover}`;
      found.push(heading);
      if (k === 1 || moment.turn !== before.turn) turns.push(new Option(text(moment.turn), k));
    }
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.move = k;
    button.tabIndex = -1;
    button.textContent = text(moment.move);
    found.push(button);
  });
  at("moves").replaceChildren(...found);
  at("turn").replaceChildren(...turns);
}

// --- one moment --------------------------------------------------------------------------------

function go(number) {
  move = Math.max(0, Math.min(last(), number));
  const moment = view.moments[move];
  film.show(frames[move]);
  at("picture").setAttribute("aria-label", text(moment.title));
  const words = move ? moment.told.map(text) : [`${text(moment.title)}.`];
  const where = move
    ? `${game.players[game.seats[move - 1]]}: ${text(moment.move)}`
    : "The first position";
  at("where").textContent = where;
  at("words").replaceChildren(
    ...words.map((sentence) => {
      const line = document.createElement("p");
      line.textContent = sentence;
      return line;
    }),
  );
  at("live").textContent = `Move ${move} of ${last()}. ${where}. ${words.join(" ")}`;
  at("slider").value = move;
  at("slider").setAttribute("aria-valuetext", `move ${move} of ${last()}`);
  const starts = [...at("turn").options].map((option) => Number(option.value));
  at("turn").value = Math.max(...starts.filter((start) => start <= move));
  at("first").disabled = at("back").disabled = move === 0;
  at("next").disabled = at("last").disabled = move === last();
  mark();
  think(moment);
  remember();
  if (move === last()) pause();
}

// Highlights the move in the list, and scrolls the list to the move. The page does not scroll.
function mark() {
  const moves = at("moves");
  const old = moves.querySelector("[aria-current]");
  const now = moves.querySelector(`[data-move="${move}"]`);
  if (old) {
    old.removeAttribute("aria-current");
    old.tabIndex = -1;
  }
  const reached = now || moves.querySelector("button");
  if (reached) reached.tabIndex = 0;
  if (!now) {
    moves.scrollTop = 0;
    return;
  }
  now.setAttribute("aria-current", "step");
  const [top, bottom] = [moves.scrollTop, moves.scrollTop + moves.clientHeight];
  const place = now.offsetTop - moves.offsetTop;
  if (place < top + 30 || place + now.offsetHeight > bottom - 10) {
    moves.scrollTop = place - moves.clientHeight / 2;
  }
}

// --- players' thoughts -------------------------------------------------------------------------

const WIDE = 600; // width and height of a curve, in its own units
const HIGH = 150;

function make(name, more = {}, ...children) {
  const found = document.createElement(name);
  Object.assign(found, more);
  found.append(...children);
  return found;
}

function drawn(name, attributes) {
  const found = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  return found;
}

const across = (number) => (WIDE * number) / Math.max(1, last());
const down = (value) => (HIGH * (1 - value)) / 2;

// Shows the players with thoughts side by side. Each has a curve of the seats' expected results,
// the moves after which an expected result fell most, and a table for the move that is shown.
function listThinkers() {
  at("thoughts").hidden = !view.thinkers.length;
  document.body.classList.toggle("thinking", view.thinkers.length > 0);
  at("thoughts").replaceChildren(
    ...view.thinkers.map((thinker, k) =>
      make(
        "article",
        {},
        make("h2", { textContent: text(thinker.name) }),
        ...curve(thinker),
        ...worst(thinker),
        make("div", { id: `page-thought-${k}` }),
      ),
    ),
  );
}

function curve(thinker) {
  const seats = game.players.map((_, seat) => seat).filter((seat) => thinker.lines[seat].length);
  if (!seats.length || !last()) return [];
  const chart = drawn("svg", { class: "curve", viewBox: `-4 -4 ${WIDE + 8} ${HIGH + 8}`, role: "img" });
  const said = seats.map((seat) => {
    const [[, first], [, end]] = [thinker.lines[seat][0], thinker.lines[seat].at(-1)];
    return `${game.players[seat]} from ${signed(first)} to ${signed(end)}`;
  });
  chart.setAttribute("aria-label", `Expected result by move: ${said.join("; ")}.`);
  chart.append(drawn("path", { class: "axis", d: `M0 0H${WIDE}M0 ${HIGH / 2}H${WIDE}M0 ${HIGH}H${WIDE}` }));
  for (const seat of seats) {
    const points = thinker.lines[seat].map(([number, value]) => `${across(number)},${down(value)}`);
    chart.append(drawn("polyline", { class: `line line${seat}`, points: points.join(" ") }));
  }
  chart.append(drawn("path", { class: "here" }));
  chart.addEventListener("click", (event) => {
    const box = chart.getBoundingClientRect();
    stepping(() => Math.round((last() * (event.clientX - box.left)) / box.width))();
  });
  const legend = make("p", { className: "legend" });
  for (const seat of seats) {
    const sample = drawn("svg", { viewBox: "0 0 30 10", "aria-hidden": "true" });
    sample.append(drawn("path", { class: `line line${seat}`, d: "M0 5H30" }));
    legend.append(make("span", {}, sample, ` ${game.players[seat]}`));
  }
  return [make("p", { textContent: "Expected result: +1 is a victory, −1 a defeat" }), chart, legend];
}

function worst(thinker) {
  if (!thinker.falls.length) return [];
  const items = thinker.falls.map(([number, before, after]) => {
    const mover = game.players[game.seats[number - 1]];
    const words = `${number}. ${mover}: ${text(view.moments[number].move)}`;
    const button = make("button", { type: "button", textContent: words });
    button.addEventListener("click", stepping(() => number));
    return make("li", {}, button, ` ${signed(before)} → ${signed(after)}`);
  });
  return [
    make("h3", { textContent: "Largest falls of the expected result" }),
    make("ol", { className: "falls" }, ...items),
  ];
}

// Shows the thoughts before the action that led to this moment, or about a single position.
function think(moment) {
  for (const here of document.querySelectorAll(".here")) {
    here.setAttribute("d", `M${across(move)} 0V${HIGH}`);
  }
  view.thinkers.forEach((_, k) => {
    const thought = moment.thoughts && moment.thoughts[k];
    at(`thought-${k}`).replaceChildren(...(thought ? table(thought, move ? text(moment.move) : "") : []));
  });
}

function table({ value, rows }, played) {
  const heads = ["action", "probability", "visits", "value"];
  const shown = heads.map((_, k) => rows.some((row) => row[k] !== null));
  const words = [String, (p) => `${(100 * p).toFixed(1)} %`, String, signed];
  const line = (cells, kind, more = {}) => make("tr", more, ...cells.filter((_, k) => shown[k]).map(kind));
  const mover = game.players[game.seats[Math.max(0, move - 1)]];
  const expects = value === null ? "" : ` ${mover} could expect ${signed(value)}.`;
  const when = move ? `Before move ${move}, ${played}:` : `${mover} is to move.`;
  return [
    make("p", { textContent: when + expects }),
    make(
      "table",
      {},
      make("thead", {}, line(heads, (head) => make("th", { scope: "col", textContent: head }))),
      make(
        "tbody",
        {},
        ...rows.map((row) =>
          line(
            row.map((cell, k) => (cell === null ? "" : words[k](cell))),
            (cell) => make("td", { textContent: cell }),
            { className: row[0] === played ? "played" : "" },
          ),
        ),
      ),
    ),
  ];
}

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

// Writes the position into the page's address, so that people can bookmark or send it.
function remember() {
  const place = [at("game").value, move, at("view").value].map(Number);
  try {
    history.replaceState(null, "", `#game=${place[0] + 1}&move=${place[1]}&view=${place[2]}`);
  } catch {
    // A page inside another page may not be able to change its address.
  }
}

// --- playing -----------------------------------------------------------------------------------

function play() {
  if (timer) return pause();
  if (move === last()) go(0);
  timer = setInterval(() => go(move + 1), Number(at("speed").value));
  at("play").classList.add("going");
  at("play").setAttribute("aria-label", "Pause");
}

function pause() {
  clearInterval(timer);
  timer = null;
  at("play").classList.remove("going");
  at("play").setAttribute("aria-label", "Play");
}

// Returns the first position of the next turn (step > 0). Otherwise returns the first position of
// the current turn, or of the previous turn if the current position is already the first.
function turn(step) {
  const starts = [...at("turn").options].map((option) => Number(option.value));
  if (step > 0) return starts.find((start) => start > move) ?? last();
  return starts.filter((start) => start < move).pop() ?? 0;
}

function flip() {
  openView((Number(at("view").value) + 1) % game.views.length);
  at("live").textContent = text(view.moments[move].title);
}

function nextGame() {
  openGame((Number(at("game").value) + 1) % data.games.length);
}

// --- keys and controls ---------------------------------------------------------------------------

const KEYS = {
  ArrowLeft: () => go(move - 1),
  ArrowRight: () => go(move + 1),
  "shift ArrowLeft": () => go(turn(-1)),
  "shift ArrowRight": () => go(turn(1)),
  k: () => go(move - 1),
  j: () => go(move + 1),
  ArrowUp: () => go(0),
  ArrowDown: () => go(last()),
  Home: () => go(0),
  End: () => go(last()),
  " ": play,
  f: flip,
  g: nextGame,
  "?": () => at("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  const focused = event.target instanceof Element ? event.target : document.body;
  const busy = focused.closest("input, select, textarea, dialog[open]");
  const pressing = event.key === " " && focused.closest("button");
  if (busy || pressing || event.ctrlKey || event.altKey || event.metaKey) return;
  const arrow = event.key.startsWith("Arrow") && event.shiftKey;
  const action = KEYS[arrow ? `shift ${event.key}` : event.key];
  if (!action) return;
  event.preventDefault();
  if (event.key !== " ") pause();
  action();
});

function on(id, kind, action) {
  at(id).addEventListener(kind, action);
}

const stepping = (number) => () => {
  pause();
  go(number());
};

on("first", "click", stepping(() => 0));
on("back", "click", stepping(() => move - 1));
on("next", "click", stepping(() => move + 1));
on("last", "click", stepping(last));
on("play", "click", play);
on("slider", "input", stepping(() => Number(at("slider").value)));
on("turn", "change", stepping(() => Number(at("turn").value)));
on("view", "change", () => openView(Number(at("view").value)));
on("game", "change", () => openGame(Number(at("game").value)));
on("speed", "change", () => {
  if (timer) {
    pause();
    play();
  }
});
on("help", "click", () => at("keys").showModal());
on("close", "click", () => at("keys").close());
on("moves", "click", (event) => {
  const button = event.target.closest("button");
  if (button) stepping(() => Number(button.dataset.move))();
});

at("game").replaceChildren(
  ...data.games.map((one, k) => new Option(`${k + 1}: ${one.players.join(", ")}`, k)),
);
at("games").hidden = data.games.length < 2;
const asked = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const number = (name, least) => Math.max(least, Number.parseInt(asked[name], 10) || least) - least;
openGame(Math.min(number("game", 1), data.games.length - 1), number("move", 0), number("view", 0));
// A browser shows a long page before its script has run. Before this line, clicks would be lost.
document.querySelector("main").inert = false;
