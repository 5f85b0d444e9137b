/* Dialogs: the shared confirmation, openers (data-dialog), and closing on the backdrop. Menus close like menus. */
const confirmDialog = document.getElementById("confirm-dialog");
const confirmed = new WeakSet();

function ask({ message, action = "Continue" }) {
  confirmDialog.querySelector("[data-confirm-message]").textContent = message;
  confirmDialog.querySelector("[value=confirm]").textContent = action;
  confirmDialog.returnValue = "";
  confirmDialog.showModal();
  return new Promise((resolve) => {
    confirmDialog.addEventListener("close", () => resolve(confirmDialog.returnValue === "confirm"), { once: true });
  });
}

// Capturing, so that it comes before htmx sees the form; without JavaScript the form simply posts.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  const source = event.submitter?.dataset.confirm ? event.submitter : form;
  if (!source.dataset.confirm || !confirmDialog || confirmed.delete(form)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const submitter = event.submitter;
  if (await ask({ message: source.dataset.confirm, action: source.dataset.confirmAction })) {
    confirmed.add(form);
    form.requestSubmit(submitter);
  }
}, true);

document.addEventListener("htmx:confirm", async (event) => {
  const { ctx, issueRequest, dropRequest } = event.detail;
  if (!ctx?.confirm || !confirmDialog) return;
  event.preventDefault();
  (await ask({ message: ctx.confirm })) ? issueRequest() : dropRequest();
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (opener) document.getElementById(opener.dataset.dialog)?.showModal();
  if (event.target.matches("dialog")) event.target.close();
  if (event.target.closest("[data-close]")) event.target.closest("dialog")?.close();
  if (event.target.closest("[data-dismiss]")) event.target.closest("[data-dismissable]")?.remove();
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
