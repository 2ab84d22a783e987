import { expect, test } from "vitest";
import { createDiagnostics } from "../../src/shapes/diagnostics.ts";

test("the host is told the 1st, 10th, 100th and 1000th diagnostic of each kind", () => {
  const told: string[] = [];
  const diagnose = createDiagnostics((text) => void told.push(text));
  for (let time = 1; time <= 1001; time += 1) diagnose("kind", `text ${time}`);
  diagnose("other");
  expect(told).toEqual([
    "text 1",
    "text 10 (10 times by now)",
    "text 100 (100 times by now)",
    "text 1000 (1000 times by now)",
    "other",
  ]);
});
