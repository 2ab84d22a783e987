/** `@fairlead/core/text`: makes foreign text safe to print on a terminal. */

export { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toSafeText, toVisibleLine } from "./safe-text.ts";
