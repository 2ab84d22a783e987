import { describe, expect, test } from "vitest";
import { isOfServer, ownAddress, readOwnAddress, sameAddress } from "../../src/server/own-address.ts";

describe("an address that names its server", () => {
  const rows = [
    ["pm", "ui://p/a.html", "ui://fairlead.pm/p/a.html"],
    ["pm", "ui://p", "ui://fairlead.pm/p"],
    ["pm", "ui:///a.html?x=1#y", "ui://fairlead.pm//a.html?x=1#y"],
    ["my server/1", "skill://refunds/SKILL.md", "skill://fairlead.my%20server%2F1/refunds/SKILL.md"],
    ["a.b", "ui://fairlead.pm/p/a.html", "ui://fairlead.a.b/fairlead.pm/p/a.html"],
    ["Größe", "ui://{+path}", "ui://fairlead.Gr%C3%B6%C3%9Fe/{+path}"],
  ] as const;

  test.each(rows)("of %s for %s leads back", (server, uri, address) => {
    expect(ownAddress({ server, uri })).toBe(address);
    expect(readOwnAddress(address)).toEqual({ server, uri });
    expect(new URL(address).protocol).toBe(new URL(uri).protocol);
  });

  test("exists for no address without an authority", () => {
    expect(ownAddress({ server: "a", uri: "urn:x" })).toBeUndefined();
    expect(ownAddress({ server: "a", uri: "://x" })).toBeUndefined();
  });

  test("of a server whose name has half a character is valid, and leads nowhere", () => {
    const address = ownAddress({ server: "a\ud800", uri: "ui://x" }) ?? "";
    expect(new URL(address).href).toBe(address);
    expect(readOwnAddress(address)?.server).not.toBe("a\ud800");
  });
});

test.each(["ui://p/a.html", "ui://fairlead.pm", "ui://fairlead.%ZZ/x", "ui://fairlea", "fairlead.pm/x", ""])(
  "%s names no server",
  (address) => expect(readOwnAddress(address)).toBeUndefined(),
);

test("the addresses of views and skills belong to their server, whatever the case of the scheme", () => {
  expect(["ui://a", "UI://a", "skill://a"].map(isOfServer)).toEqual([true, true, true]);
  expect(["file:///a", "https://ui", "ui:a", "xui://a"].map(isOfServer)).toEqual([false, false, false, false]);
});

test("addresses that differ only in case or escapes count as the same", () => {
  const [first, ...others] = ["ui://p/a.html", "UI://P/A.html", "ui://p/%61.html", "ui://p%2Fa.html"].map(sameAddress);
  expect(others).toEqual([first, first, first]);
  expect(sameAddress("ui://p/b.html")).not.toBe(first);
  expect(sameAddress("ui://{x}")).toBe(sameAddress("UI://p/{+y}"));
});
