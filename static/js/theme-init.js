/* Runs before the first paint, so that a chosen theme does not flash. Classic script on purpose: modules are deferred. */
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("memory-hub-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch { /* storage refused: the system's theme stays */ }
})();
