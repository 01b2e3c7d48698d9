// Shows the pictures of one film (see film.py) in an <svg> element by replacing pieces.

const SVG = "http://www.w3.org/2000/svg";

class Film {
  // `head` is the result of `Film.head`. The pictures are shown in `svg`, an element of the page.
  constructor(svg, head) {
    this.svg = svg;
    this.strings = [];
    this.pieces = [];
    this.shown = []; // the piece in each slot
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${head.width} ${head.height}`);
    this.defs = svg.appendChild(document.createElementNS(SVG, "defs"));
    this.parts = svg.appendChild(document.createElementNS(SVG, "g"));
  }

  // Adds the result of `Film.news`: new strings, pieces and definitions.
  add(news) {
    this.strings.push(...news.strings);
    this.pieces.push(...news.pieces);
    this.defs.insertAdjacentHTML("beforeend", news.definitions.join(""));
  }

  // Shows a frame: the number of a piece for each part, from back to front.
  show(frame) {
    while (this.parts.childElementCount < frame.length) {
      this.parts.append(document.createElementNS(SVG, "g"));
      this.shown.push(0);
    }
    this.shown.forEach((old, part) => {
      const piece = frame[part] || 0;
      if (piece === old) return;
      this.parts.children[part].innerHTML = this.pieces[piece].map((s) => this.strings[s]).join("");
      this.shown[part] = piece;
    });
  }
}

// Returns a copy of a frame with changes applied. `changes` is the result of `changes` in film.py.
function changed(frame, changes) {
  const next = frame.slice();
  for (let i = 0; i < changes.length; i += 2) {
    while (next.length <= changes[i]) next.push(0);
    next[changes[i]] = changes[i + 1];
  }
  return next;
}
