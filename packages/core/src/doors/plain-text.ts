/** What the command and the gateway use of text beside `SafeText`: words, quoting, JSON, URI templates. */

export { canonicalJson } from "../text/canonical-json.ts";
export { closest } from "../text/closest.ts";
export { writeJson } from "../text/deep-json.ts";
export { duplicateName, inexactNumber } from "../text/exact-json.ts";
export { flagsOfResult, flagWords } from "../text/flags.ts";
export { type Group, groupBy } from "../text/group-by.ts";
export { hidden } from "../text/hidden-text.ts";
export { toShellWord } from "../text/shell-word.ts";
export { sizeWords } from "../text/size-words.ts";
export { estimateTokens } from "../text/token-estimate.ts";
export { disruptive, exoticSpaces, hasUnseen, invisible } from "../text/unseen.ts";
export { encodeUri, encodeValue, expandTemplate, parseTemplate, type TemplatePiece } from "../text/uri-template.ts";
export { waitWords } from "../text/wait-words.ts";
