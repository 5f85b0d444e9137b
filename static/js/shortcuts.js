/* Single-key shortcuts. Each only repeats something a link or button does; the help dialog can turn them off (WCAG 2.1.4). */
const KEY = "memory-hub-shortcuts";
const toggle = document.getElementById("shortcuts-enabled");
const enabled = () => { try { return localStorage.getItem(KEY) !== "off"; } catch { return true; } };
let waitingForGo = 0;

if (toggle) {
  toggle.checked = enabled();
  toggle.addEventListener("change", () => { try { localStorage.setItem(KEY, toggle.checked ? "on" : "off"); } catch { /* holds for this page */ } });
}

function typing(target) {
  return target.isContentEditable || target.closest("input:not([type=checkbox], [type=radio]), textarea, select, dialog[open]");
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || !enabled()) return;
  if (Date.now() - waitingForGo < 1500) {
    waitingForGo = 0;
    const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  if (event.key === "?") document.getElementById("shortcuts-dialog")?.showModal();
  else if (event.key === "g") waitingForGo = Date.now();
  else if (event.key === "/") {
    const search = document.querySelector("[data-search]");
    if (!search?.checkVisibility()) return;
    search.focus();
    search.select();
  } else {
    const control = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!control) return;
    control.click();
  }
  event.preventDefault();
});
