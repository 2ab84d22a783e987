/** Moved: the tests beside this file find it here until they do not need it any more. */

export * from "./support/left-over.ts";
