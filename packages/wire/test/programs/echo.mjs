// Sends every message back inside another, and ends when its stdin ends.
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`{"echo":${line}}\n`);
