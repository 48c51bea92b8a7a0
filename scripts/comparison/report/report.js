"use strict";
// Tables can be sorted by their headings and filtered. Without JavaScript they are plain tables.
const FACTORS = { k: 1e3, M: 1e6, G: 1e9 };
// the first number of a cell (`24.5k / 100 MB/s`, `+3.1%`), null where there is none
function figure(text) {
  const match = /^\s*(?:range\s+)?([+-]?\d[\d,]*\.?\d*)\s*([kMG])?/.exec(text);
  return match ? parseFloat(match[1].replaceAll(",", "")) * (FACTORS[match[2]] || 1) : null;
}
function compare(a, b) {
  const x = figure(a), y = figure(b);
  if (x !== null && y !== null && x !== y) return x - y;
  if ((x === null) !== (y === null)) return x === null ? 1 : -1;
  return a.localeCompare(b, "en", { numeric: true });
}
function sort(table, heading, column) {
  const down = heading.getAttribute("aria-sort") === "ascending";
  const rows = Array.from(table.tBodies[0].rows);
  rows.sort((a, b) => (down ? -1 : 1) * compare(a.cells[column].textContent, b.cells[column].textContent));
  table.tBodies[0].append(...rows);
  for (const other of table.querySelectorAll("th[aria-sort]")) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
}
function filter(table, words) {
  for (const row of table.tBodies[0].rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
}
for (const table of document.querySelectorAll("table.data")) {
  const headings = table.tHead.rows[table.tHead.rows.length - 1].cells;
  Array.from(headings).forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    heading.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => sort(table, heading, column));
  });
  if (table.tBodies[0].rows.length > 5) {
    const label = document.createElement("label");
    label.className = "filter";
    const input = document.createElement("input");
    input.type = "search";
    input.addEventListener("input", () => filter(table, input.value.toLowerCase().split(/\s+/).filter(Boolean)));
    label.append("Rows with ", input);
    table.parentElement.before(label);
  }
}
