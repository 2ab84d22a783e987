import { expect, test } from "vitest";
import { proxyFor } from "../../src/http/proxy.ts";

const proxy = "http://proxy.example:3128";

test.each<[string, Record<string, string>, string | undefined]>([
  ["https://a.example/", {}, undefined],
  ["https://a.example/", { HTTPS_PROXY: proxy }, proxy],
  ["https://a.example/", { https_proxy: proxy, HTTPS_PROXY: "http://other" }, proxy],
  ["https://a.example/", { https_proxy: "", HTTPS_PROXY: proxy }, proxy],
  ["https://a.example/", { HTTP_PROXY: proxy }, undefined],
  ["http://a.example/", { HTTP_PROXY: proxy }, proxy],
  ["http://a.example/", { ALL_PROXY: proxy }, proxy],
  ["https://a.example/", { all_proxy: proxy, https_proxy: "http://first" }, "http://first"],
  ["https://a.example/", { https_proxy: "proxy.example:3128" }, "http://proxy.example:3128"],
  ["http://a.example/", { http_proxy: "user:pass@proxy.example:3128" }, "http://user:pass@proxy.example:3128"],
  ["https://a.example/", { https_proxy: "https://proxy.example:3128" }, "https://proxy.example:3128"],
])("%s with %j goes through %s", (url, env, expected) => {
  expect(proxyFor(new URL(url), env)).toBe(expected);
});

test.each<[string, string, boolean]>([
  ["*", "https://a.example/", true],
  ["a.example", "https://a.example/", true],
  ["A.Example", "https://a.example/", true],
  ["a.example", "https://b.a.example/", false],
  ["b.example, a.example", "https://a.example/", true],
  ["b.example  a.example", "https://a.example/", true],
  [".example", "https://a.example/", true],
  ["*.example", "https://a.example/", true],
  ["*a.example", "https://aa.example/", true],
  [".a.example", "https://a.example/", false],
  ["a.example:443", "https://a.example/", true],
  ["a.example:8443", "https://a.example/", false],
  ["a.example:8443", "https://a.example:8443/", true],
  ["a.example:80", "http://a.example/", true],
  ["127.0.0.1", "http://127.0.0.1:8080/", true],
  ["[::1]", "http://[::1]:8080/", true],
  ["127.0.0.0/8", "http://127.0.0.1/", false],
  [",", "https://a.example/", false],
  ["", "https://a.example/", false],
])("NO_PROXY=%j exempts %s: %s", (exceptions, url, isExempt) => {
  for (const name of ["NO_PROXY", "no_proxy"])
    expect(proxyFor(new URL(url), { ALL_PROXY: proxy, [name]: exceptions })).toBe(isExempt ? undefined : proxy);
});
