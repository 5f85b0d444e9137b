/* Copy buttons: data-copy names the id of the element whose text (or value) is copied. */
import { announce } from "./announce.js";

async function write(text) {
  if (navigator.clipboard?.writeText) return navigator.clipboard.writeText(text);
  // Plain http on another host than localhost has no clipboard interface.
  const area = Object.assign(document.createElement("textarea"), { value: text });
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("copy refused");
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  const source = button && document.getElementById(button.dataset.copy);
  if (!source) return;
  const label = button.querySelector("[data-copy-label]") ?? button;
  const before = label.dataset.before ??= label.textContent;
  try {
    await write(source.value ?? source.textContent);
    label.textContent = "Copied";
  } catch {
    label.textContent = "Press Ctrl+C";
    getSelection().selectAllChildren(source);
  }
  announce(label.textContent);
  setTimeout(() => { label.textContent = before; }, 2000);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-wrap]");
  const block = button && document.getElementById(button.dataset.wrap);
  if (block) button.setAttribute("aria-pressed", String(block.classList.toggle("wrapped")));
});
