/* The theme switch: auto, light, dark; kept in this browser only. */
const KEY = "memory-hub-theme";

function show(theme) {
  document.documentElement.dataset.theme = theme;
  for (const button of document.querySelectorAll("[data-set-theme]")) {
    button.setAttribute("aria-pressed", String(button.dataset.setTheme === theme));
  }
}

show(document.documentElement.dataset.theme || "auto");

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-set-theme]");
  if (!button) return;
  show(button.dataset.setTheme);
  try { localStorage.setItem(KEY, button.dataset.setTheme); } catch { /* private mode: holds for this page */ }
});
