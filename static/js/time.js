/* <time data-relative>: the server writes words and UTC; here they become the reader's clock and stay current. */
const UNITS = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

function relative(seconds) {
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return words.format(-Math.floor(Math.abs(seconds) / size) * Math.sign(seconds), unit);
  }
  return "just now";
}

function refresh(root = document) {
  for (const element of root.querySelectorAll("time[data-relative], time[data-local]")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    if (element.hasAttribute("data-relative")) {
      element.textContent = relative((Date.now() - moment) / 1000);
      element.title = full.format(moment);
    } else {
      element.textContent = full.format(moment);
    }
  }
}

refresh();
setInterval(refresh, 30000);
document.addEventListener("htmx:after:swap", () => refresh());
document.addEventListener("htmx:after:sse:message", () => refresh());
