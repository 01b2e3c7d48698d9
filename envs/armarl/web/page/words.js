"use strict";
/* Helper functions of both pages, for elements and requests. None of them parses text as HTML. */

const byId = (id) => document.getElementById(id);

/** Make an element with attributes and children. Text children are never parsed as HTML. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** Split a text into pieces of plain text, and elements for pieces in backquotes (code). */
const marked = (text) => text.split("`").map((part, k) => (k % 2 ? make("code", {}, part) : part));

/** Make the instructions of a game: headings with a few sentences each, and a link to all rules. */
function rulesOf(how, all) {
  return [...how.flatMap(([head, text]) => [make("h3", {}, head), make("p", {}, ...marked(text))]),
    ...(all ? [make("p", {}, make("a", { href: all, target: "_blank", rel: "noopener" }, "All rules by number"))] : [])];
}

class Refused extends Error {}

/** Send a request to the server. A refusal is thrown as an error whose text people may read. */
async function ask(address, body) {
  let answer;
  try {
    answer = await fetch(address, body === undefined ? {} : {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Error("The server does not answer. The page tries again.");
  }
  if (answer.status === 409) throw new Refused((await answer.json()).refused);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}
