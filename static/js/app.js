/* Entry point: every page loads this one module. Each import works on its own and finds nothing to do where it is not needed. */
import "./theme.js";
import "./copy.js";
import "./time.js";
import "./dialogs.js";
import "./shortcuts.js";
import "./requests.js";
import "./run-log.js";
