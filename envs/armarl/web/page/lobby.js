"use strict";
/* The host's page, which opens new tables and lists all tables. */

let games = [], given = null, players = [];
const LETTERS = "ABCDEFGHIJKLMNOP"; // one letter for each seat, for names
const HERE = "a person at this screen", LINK = "a person with a separate address";

async function start() {
  const found = await ask("lobby");
  ({ games, given } = found);
  byId("name").replaceChildren(...games.map((game) => make("option", { value: game.name }, game.title)));
  if (given && given.name === null) {
    byId("name").prepend(make("option", { value: "" }, `${given.title}, from the command line`));
  }
  if (given) byId("name").value = given.name ?? "";
  showGame(given);
  showTables(found.tables);
}

function chosen() {
  return games.find((game) => game.name === byId("name").value);
}

/** Show the options of the chosen game. */
function showGame(preset) {
  const game = chosen();
  byId("summary").textContent = game ? game.summary : "";
  byId("text").placeholder = game ? JSON.stringify(game.example) : "";
  byId("how").hidden = !game || !(game.how.length || game.rules);
  if (game) byId("rules").replaceChildren(...rulesOf(game.how, game.rules && `rules?game=${game.name}`));
  byId("options").replaceChildren();
  const numbers = game ? game.players : [given.options.players];
  byId("players").replaceChildren(...numbers.map((n) => make("option", {}, String(n))));
  const options = preset ? { ...(game ? game.options : {}), ...preset.options } : game ? game.options : {};
  if (preset) byId("players").value = String(preset.options.players);
  for (const [name, value] of Object.entries(options)) {
    if (!game || name === "players") continue;
    const kind = { boolean: "checkbox", number: "number" }[typeof game.options[name]] ?? "text";
    const input = game.choices[name]
      ? make("select", { name }, ...game.choices[name].map((choice) => make("option", {}, choice)))
      : make("input", { type: kind, name, size: 8 });
    if (kind === "checkbox") input.checked = value; else input.value = value;
    input.addEventListener("change", showPlayers);
    byId("options").append(make("label", {}, `${name.replaceAll("_", " ")} `, input,
      make("small", {}, game.words[name] ?? "")));
  }
  showPlayers();
}

function options() {
  const game = chosen(), found = { players: Number(byId("players").value) };
  for (const input of byId("options").querySelectorAll("input, select")) {
    const kind = typeof game.options[input.name];
    found[input.name] = kind === "boolean" ? input.checked : kind === "number" ? Number(input.value) : input.value;
  }
  return found;
}

const request = () => (chosen() ? { game: byId("name").value, options: options() } : {});

/** Request the available players for the variant, and show a line for each seat. */
async function showPlayers() {
  try {
    ({ players } = await ask("players", request()));
    byId("said").textContent = "";
  } catch (error) {
    byId("said").textContent = error.message;
    return;
  }
  const number = Number(byId("players").value), named = given ? given.players : [];
  byId("seats").replaceChildren(...Array.from({ length: number }, (_, seat) => {
    const who = make("select", { "aria-label": `Who is ${LETTERS[seat]}` },
      make("option", { value: "here" }, HERE), make("option", { value: "link" }, LINK),
      ...players.map(([spec, words]) => make("option", { value: `player ${spec}` }, `${spec}: ${words}`)));
    const wish = named[Math.min(seat, named.length) - 1] ?? players[0][0];
    if (seat) who.value = `player ${wish}`;
    const name = make("input", { "aria-label": `Name of ${LETTERS[seat]}`, maxlength: 24, size: 12 });
    name.value = `Player ${LETTERS[seat]}`;
    const show = () => { name.hidden = who.value.startsWith("player "); };
    who.addEventListener("change", show);
    show();
    return make("li", {}, who, " ", name);
  }));
}

async function open(event) {
  event.preventDefault();
  byId("start").disabled = true;
  byId("said").textContent = "Preparing the rules. This takes up to a minute the first time on a machine.";
  const seats = [...byId("seats").children].map((line) => {
    const [who, name] = line.children;
    if (who.value.startsWith("player ")) return who.value.slice(7);
    return { name: name.value, own_key: who.value === "link" };
  });
  try {
    const deal = byId("deal").value.trim();
    const { keys, names } = await ask("new", { ...request(), seats, ...(deal && { deal: Number(deal) }) });
    byId("said").textContent = "";
    const own = keys.filter(([, seats]) => seats.length);
    if (own.length <= 1) { location.href = `../${(own[0] ?? keys[0])[0]}/`; return; }
    byId("opened").hidden = false;
    byId("addresses").replaceChildren(...keys.map(address(names)));
    byId("addresses").querySelector("a").focus();
    showTables((await ask("lobby")).tables);
  } catch (error) {
    byId("said").textContent = error.message;
  } finally {
    byId("start").disabled = false;
  }
}

/** Open the record or the position that was pasted into the text field. */
async function keep(event) {
  event.preventDefault();
  byId("kept").textContent = "Reading the text. This takes up to a minute the first time with a game.";
  try {
    const { keys: [[key]] } = await ask("keep", { text: byId("text").value });
    location.href = `../${key}/`;
  } catch (error) { byId("kept").textContent = error.message; }
}

const address = (names) => ([key, seats]) => {
  const link = new URL(`../${key}/`, location.href).href;
  const who = seats.length ? seats.map((seat) => names[seat]).join(", ") : "onlookers";
  return make("li", {}, `${who}: `, make("a", { href: link, target: "_blank", rel: "noreferrer" }, link));
};

function showTables(tables) {
  byId("tables").replaceChildren(...tables.slice(0, 200).map((table) => make("li", {},
    make("details", {}, make("summary", {},
      `${table.over ? "over" : "in play"}: ${table.game}, ${table.names.join(", ")}`,
      make("small", {}, ` ${new Date(table.time * 1000).toLocaleString()}, ${table.file}`)),
    make("ul", {}, ...table.keys.map(address(table.names)))))));
  if (!tables.length) byId("tables").append(make("li", {}, "none yet"));
}

byId("name").addEventListener("change", () => showGame(null));
byId("players").addEventListener("change", showPlayers);
byId("game").addEventListener("submit", open);
byId("keep").addEventListener("submit", keep);
// Until this line has run, clicks and submitted forms would be lost.
document.querySelector("main").inert = false;
start().catch((error) => { byId("said").textContent = error.message; });
