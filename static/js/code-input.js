/* Tab in a code field indents the selected lines; Shift+Tab takes it back. Escape first lets Tab leave the field. */

const SPACES = "    ";
let leaving = null;

document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLTextAreaElement) || !field.classList.contains("code-input")) return;
  if (event.key === "Escape") { leaving = field; return; }
  if (event.key !== "Tab" || event.ctrlKey || event.altKey || event.metaKey) { leaving = null; return; }
  if (leaving === field) { leaving = null; return; }
  event.preventDefault();
  const unit = /^\t/m.test(field.value) ? "\t" : SPACES;
  if (event.shiftKey || field.value.slice(field.selectionStart, field.selectionEnd).includes("\n")) shiftLines(field, unit, event.shiftKey);
  else insert(field, unit);
});

/* execCommand is the one way to change a textarea that the browser's undo knows about. */
function insert(field, text) {
  if (!document.execCommand("insertText", false, text)) field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
}

function shiftLines(field, unit, back) {
  const start = field.value.lastIndexOf("\n", field.selectionStart - 1) + 1;
  const found = field.value.indexOf("\n", Math.max(field.selectionEnd - 1, start));
  const end = found < 0 ? field.value.length : found;
  const shift = (line) => {
    if (!back) return line ? unit + line : line;
    return line.startsWith(unit) ? line.slice(unit.length) : line.replace(/^[ \t]{1,4}/, "");
  };
  const shifted = field.value.slice(start, end).split("\n").map(shift).join("\n");
  field.setSelectionRange(start, end);
  insert(field, shifted);
  field.setSelectionRange(start, start + shifted.length);
}
