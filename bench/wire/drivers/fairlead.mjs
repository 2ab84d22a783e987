// Our engine, in the era that the others speak.
import { openWith } from "./engine.mjs";

export const open = openWith("legacy");
