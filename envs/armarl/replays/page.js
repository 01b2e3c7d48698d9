// Steps through the games of a replay. The data's texts become text alone; only the pieces of films,
// which armarl has drawn, become elements.

// Parts of pictures have ids, too, so those of the page begin with `page-`.
const at = (id) => document.getElementById(`page-${id}`);
const data = JSON.parse(at("data").textContent);
const text = (number) => data.texts[number];

let game; // the game that is shown
let view; // as a seat sees it
let frames; // the frame of each moment of this view
let move = 0; // how many actions have been played
let film;
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

// Marks the move in the list and brings it into sight, without moving the page.
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

// Shows what was thought before this action, by its player or by one that was asked later.
function think(moment) {
  const thoughts = moment.thoughts;
  at("thoughts").hidden = !thoughts;
  if (!thoughts) return;
  const cell = (value, words) => {
    const td = document.createElement("td");
    td.textContent = value === null ? "" : words(value);
    return td;
  };
  const mover = game.players[game.seats[move - 1]];
  at("expects").textContent =
    thoughts.value === null ? "" : `Expected return of ${mover}: ${signed(thoughts.value)}.`;
  at("rows").replaceChildren(
    ...thoughts.rows.map(([action, probability, visits, value]) => {
      const row = document.createElement("tr");
      if (action === text(moment.move)) row.className = "played";
      row.append(
        cell(action, String),
        cell(probability, (p) => `${(100 * p).toFixed(1)} %`),
        cell(visits, String),
        cell(value, signed),
      );
      return row;
    }),
  );
}

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

// The address names the position, so that one can keep or send it.
function remember() {
  const place = [at("game").value, move, at("view").value].map(Number);
  try {
    history.replaceState(null, "", `#game=${place[0] + 1}&move=${place[1]}&view=${place[2]}`);
  } catch {
    // A page in a frame may have no address of its own.
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

// Returns the first position of the turn before or after this one.
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
