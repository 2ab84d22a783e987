import { hostileText, notePromise, type Random, randomFrom, scaled, seed } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { toSafeJson, toSafeLine, toSafeText, toVisibleLine } from "../../src/text/safe-text.ts";
import { hasUnseen } from "../../src/text/unseen.ts";

const texts = scaled(1_000_000, 3000);

/** Each gate with what may be left of line breaks and tabs. */
const gates = { toSafeText: /[\n\t]/g, toSafeLine: /$^/g, toVisibleLine: /$^/g, toSafeJson: /\n/g } as const;

test(`${texts} hostile texts leave every gate without anything that a terminal obeys or a reader cannot see`, {
  timeout: 3_600_000,
}, () => {
  const start = seed();
  const random: Random = randomFrom(start);
  for (let at = 0; at < texts; at += 1) {
    const text = hostileText(random);
    const printed = {
      toSafeText: toSafeText(text),
      toSafeLine: toSafeLine(text),
      toVisibleLine: toVisibleLine(text),
      toSafeJson: toSafeJson({ [text]: text }),
    };
    for (const [gate, layout] of Object.entries(gates)) {
      const left = printed[gate as keyof typeof gates].replaceAll(layout, "").replaceAll(/(?! )\p{Zs}/gu, "");
      if (hasUnseen(left)) expect.fail(`FAIRLEAD_SEED=${start}: ${gate} of ${JSON.stringify(text)}`);
    }
    expect(JSON.parse(printed.toSafeJson)).toEqual({ [text]: text });
  }
  notePromise({
    group: "terminal",
    promise: "no hostile text passes a gate with a control, invisible or reordering character",
    tries: texts,
    failures: 0,
    load: "4 gates; escape sequences (CSI, OSC, DCS), bidi, tags, zero width, surrogates, marks",
  });
});
