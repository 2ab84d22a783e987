import { randomBytes } from "node:crypto";
import { HostError } from "@fairlead/core";
import { describe, expect, it } from "vitest";
import { decryptRow, decryptToken, encryptRow, encryptToken } from "../../src/store/encryption.ts";
import { KeyRing } from "../../src/store/key-ring.ts";

const line = (id: string): string => `${id} ${randomBytes(32).toString("base64")}`;
const [oldLine, newLine] = [line("k1"), line("k2")];
const before = KeyRing.parse(oldLine, "keys");
const during = KeyRing.parse(`# rotated\n${newLine}\n${oldLine}\n`, "keys");
const after = KeyRing.parse(newLine, "keys");
const row = ["grant", 1, "iss#ada", "github"];

describe("a encrypted value of a row", () => {
  it("opens with its row only", () => {
    const encrypted = encryptRow(before, row, "secret");
    expect(decryptRow(before, row, encrypted)).toBe("secret");
    expect(decryptRow(before, ["grant", 1, "iss#eve", "github"], encrypted)).toBeUndefined();
    expect(decryptRow(before, ["grant", 1, "iss#a", "dagithub"], encrypted)).toBeUndefined();
    expect(decryptRow(before, ["client", 1, "iss#ada", "github"], encrypted)).toBeUndefined();
  });

  it("does not contain the text, and is different each time", () => {
    const [one, other] = [encryptRow(before, row, "secret"), encryptRow(before, row, "secret")];
    expect(one.includes("secret")).toBe(false);
    expect(one.equals(other)).toBe(false);
  });

  it("is refused if any byte was changed", () => {
    const encrypted = encryptRow(before, row, "secret");
    for (const at of encrypted.keys()) {
      const changed = Buffer.from(encrypted);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(decryptRow(before, row, changed), `byte ${at}`).toBeUndefined();
    }
    for (const length of encrypted.keys())
      expect(decryptRow(before, row, encrypted.subarray(0, length))).toBeUndefined();
  });

  it("opens while its key is in the ring, and the first key encrypts", () => {
    const encrypted = encryptRow(before, row, "secret");
    expect(decryptRow(during, row, encrypted)).toBe("secret");
    expect(decryptRow(after, row, encrypted)).toBeUndefined();
    expect(decryptRow(after, row, encryptRow(during, row, "again"))).toBe("again");
  });
});

describe("a encrypted token", () => {
  it("opens for its purpose and its request only, with any key of the ring", () => {
    const token = encryptToken(before, "session", ["iss#ada"], "state");
    expect(token).toMatch(/^k2\.[\w-]+$/);
    expect(decryptToken(during, "session", ["iss#ada"], token)).toBe("state");
    expect(decryptToken(during, "request-state", ["iss#ada"], token)).toBeUndefined();
    expect(decryptToken(during, "session", ["iss#eve"], token)).toBeUndefined();
    expect(decryptToken(after, "session", ["iss#ada"], token)).toBeUndefined();
  });

  it.each(["", "k2.", "k2.AAAA", "k1.AAAA", "k2.=", `k2.${"A".repeat(30_000)}`])("is refused: %.20s", (token) => {
    expect(decryptToken(before, "session", [], token)).toBeUndefined();
  });
});

describe("a key file", () => {
  it.each([
    ["", "it contains no key"],
    ["# only a comment\n", "it contains no key"],
    ["k1", "line 1 of keys is invalid"],
    [`k1 ${randomBytes(16).toString("base64")}`, "line 1 of keys is invalid"],
    [`${oldLine}\n../x ${randomBytes(32).toString("base64")}`, "line 2 of keys is invalid"],
    [`${oldLine}\n${line("k1")}`, "two keys have the id k1"],
    [Array.from({ length: 17 }, (_, at) => line(`k${at}`)).join("\n"), "at most 16"],
  ])("is refused without showing a key (%#)", (text, message) => {
    const refused = (): KeyRing => KeyRing.parse(text, "keys");
    expect(refused).toThrow(HostError);
    expect(refused).toThrow(message);
    for (const word of text.split(/\s+/).filter((each) => each.length > 20))
      expect(refused).not.toThrow(new RegExp(word.slice(0, 20).replaceAll(/[+/]/g, ".")));
  });

  it("gives digests that only the same key gives again", () => {
    expect(before.digest("a").equals(KeyRing.parse(oldLine, "again").digest("a"))).toBe(true);
    expect(before.digest("a").equals(after.digest("a"))).toBe(false);
    expect(during.ids).toEqual(["k2", "k1"]);
  });
});
