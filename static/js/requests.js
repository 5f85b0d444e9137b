/* A request that failed says so, once, where it is seen and heard; the page keeps what it shows (htmx-config noSwap). */
const region = document.getElementById("request-error");
const MESSAGES = {
  0: "The hub could not be reached. Nothing was changed; try again.",
  401: "You are signed out. Sign in again in another tab, then repeat this.",
  403: "You are not allowed to do that.",
  404: "That is gone, or you cannot see it any more.",
  413: "That is too large.",
  429: "Too many requests. Wait a moment and try again.",
};

function show(status, requestId) {
  if (!region) return;
  region.querySelector("[data-message]").textContent = MESSAGES[status] ?? "The hub failed to answer. Nothing was changed as far as this page knows.";
  region.querySelector("[data-request-id]").textContent = requestId ? `Request ${requestId}` : "";
  region.hidden = false;
}

document.addEventListener("htmx:response:error", (event) => {
  const response = event.detail.ctx?.response;
  // 409 and 422 carry the form with its errors, which is shown in place.
  if (!response || [400, 409, 422].includes(response.status)) return;
  show(response.status, response.headers.get("X-Request-ID"));
});
document.addEventListener("htmx:error", (event) => { if (event.detail.ctx && !event.detail.ctx.response) show(0); });
document.addEventListener("htmx:before:request", () => { if (region) region.hidden = true; });
region?.querySelector("[data-hide]")?.addEventListener("click", () => { region.hidden = true; });
