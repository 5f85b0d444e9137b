/* The live log of a run: follows its end until the reader scrolls away, then offers to jump back; says when the stream is cut. */
import { announce } from "./announce.js";

const log = document.querySelector("[data-run-log]");

if (log) {
  const list = log.querySelector("ol");
  const jump = document.getElementById("run-jump");
  const follow = document.getElementById("run-follow");
  const connection = document.getElementById("run-connection");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let following = Boolean(follow);
  let unseen = 0;

  const end = () => document.documentElement.scrollHeight - innerHeight;
  const atEnd = () => end() - scrollY < 80;

  function setFollowing(value) {
    following = value;
    follow?.setAttribute("aria-pressed", String(value));
    if (value) toEnd();
  }
  function toEnd() {
    unseen = 0;
    if (jump) jump.hidden = true;
    scrollTo({ top: end(), behavior: calm.matches ? "instant" : "smooth" });
  }

  new MutationObserver((changes) => {
    const added = changes.flatMap((change) => [...change.addedNodes]).filter((node) => node.nodeType === 1).length;
    if (!added) return;
    if (following) return toEnd();
    unseen += added;
    if (jump && !atEnd()) {
      jump.hidden = false;
      jump.querySelector("[data-count]").textContent = unseen === 1 ? "1 new step" : `${unseen} new steps`;
    }
  }).observe(list, { childList: true });

  // Only the reader's own movement ends following; our scrolling does not fire these.
  for (const gesture of ["wheel", "touchmove"]) addEventListener(gesture, () => { if (following && !atEnd()) setFollowing(false); }, { passive: true });
  addEventListener("keydown", (event) => { if (["PageUp", "ArrowUp", "Home"].includes(event.key) && following) setFollowing(false); });
  addEventListener("scroll", () => { if (!following && unseen && atEnd()) { unseen = 0; if (jump) jump.hidden = true; } }, { passive: true });
  jump?.addEventListener("click", () => setFollowing(true));
  follow?.addEventListener("click", () => setFollowing(!following));

  function connectionState(lost) {
    if (!connection || connection.hidden === !lost) return;
    connection.hidden = !lost;
    announce(lost ? "Connection lost, trying again" : "Connected again");
  }
  document.addEventListener("htmx:sse:error", () => connectionState(true));
  document.addEventListener("htmx:after:sse:connection", () => connectionState(false));
}

/* The seconds of a run that is running go on counting between two messages: [data-elapsed] holds what the server counted. */
const since = new WeakMap();
setInterval(() => {
  for (const element of document.querySelectorAll("[data-elapsed]")) {
    if (!since.has(element)) since.set(element, performance.now() - Number(element.dataset.elapsed) * 1000);
    const seconds = Math.floor((performance.now() - since.get(element)) / 1000);
    element.textContent = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }
}, 1000);
