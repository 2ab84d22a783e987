// Our engine, asking each server first which era it speaks.
import { openWith } from "./engine.mjs";

export const open = openWith("auto");
