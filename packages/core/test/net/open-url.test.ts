/** What opens a browser on which system, and what becomes of it where there is nothing to open one with. */

import { EventEmitter } from "node:events";
import { chmod, mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type OpenUrlOptions, openUrl, openUrlThrough, webUrl } from "../../src/net/open-url.ts";
import { manualClock } from "../support/manual-clock.ts";
import { openersFolder } from "../support/openers.ts";

const url = "https://login.example/authorize?state=1&scope=a+b";

interface Recorder extends Required<Pick<OpenUrlOptions, "spawn">> {
  readonly calls: { readonly command: string; readonly args: readonly string[]; readonly options: object }[];
}

/** Starts nothing; each that would be started ends as told: with a code, or because it is not there. */
function recorder(end: (command: string) => number | "missing" | "thrown" = () => 0): Recorder {
  const calls: Recorder["calls"] = [];
  return {
    calls,
    spawn(command, args, options) {
      calls.push({ command, args, options });
      const how = end(command);
      if (how === "thrown") throw new Error("spawn E2BIG");
      const child = Object.assign(new EventEmitter(), { unref: () => {} });
      setImmediate(() => (how === "missing" ? child.emit("error", new Error("ENOENT")) : child.emit("exit", how)));
      return child;
    },
  };
}

test.each<[NodeJS.Platform, Record<string, string>, readonly string[][]]>([
  ["darwin", {}, [["/usr/bin/open", url]]],
  ["win32", { SYSTEMROOT: "D:\\Win" }, [["D:\\Win\\System32\\rundll32.exe", "url.dll,FileProtocolHandler", url]]],
  [
    "win32",
    { SystemRoot: ".\\planted" },
    [["C:\\Windows\\System32\\rundll32.exe", "url.dll,FileProtocolHandler", url]],
  ],
  ["linux", { DISPLAY: ":0" }, [["xdg-open", url]]],
  ["linux", { WAYLAND_DISPLAY: "wayland-0" }, [["xdg-open", url]]],
  ["linux", { BROWSER: "/vscode/browser.sh" }, [["xdg-open", url]]],
  ["linux", { WSL_DISTRO_NAME: "Debian" }, [["wslview", url]]],
  [
    "linux",
    { WSL_INTEROP: "/run/WSL/1", DISPLAY: ":0" },
    [
      ["wslview", url],
      ["xdg-open", url],
    ],
  ],
  ["freebsd", { DISPLAY: ":0" }, [["xdg-open", url]]],
  // No user would see what opens.
  ["linux", {}, []],
])("on %s with %j, this is tried: %j", async (platform, env, lines) => {
  await using openers = await openersFolder();
  const place = openers.place(platform, env);
  const found = (name: string): string => (/^[a-z-]+$/.test(name) ? openers.fileOf(name) : name);
  for (const end of ["missing", "thrown", 3] as const) {
    const { spawn, calls } = recorder(() => end);
    expect(await openUrl(url, { ...place, spawn })).toBe(false);
    expect(calls.map(({ command, args }) => [command, ...args])).toEqual(
      lines.map(([name = "", ...args]) => [found(name), ...args]),
    );
  }
  const { spawn, calls } = recorder();
  expect(await openUrl(url, { ...place, spawn })).toBe(lines.length > 0);
  expect(calls.length).toBe(Math.min(lines.length, 1));
});

test("it is started without a shell, by itself, and not from the folder we are in", async () => {
  await using openers = await openersFolder();
  const { spawn, calls } = recorder();
  const bin = join(openers.path, "bin");
  const env = { DISPLAY: ":0", PATH: `bin:${bin}::.:/bin:node_modules/.bin` };
  for (const trusted of [true, false]) await openUrl(url, { ...openers.place("linux", env), trusted, spawn });
  expect(calls[1]).toEqual(calls[0]);
  expect(calls.slice(1).map(({ options }) => options)).toEqual([
    {
      cwd: "/",
      env: { DISPLAY: ":0", PATH: `${bin}:/bin` },
      detached: true,
      shell: false,
      stdio: "ignore",
      windowsHide: true,
    },
  ]);
});

test("a real program gets the address as its one argument; what it says by its end counts", async () => {
  await using openers = await openersFolder(`printf '%s\\n' "$#" "$@" > "$SEEN"\nexit "$END"`);
  const seen = join(openers.path, "seen");
  const strange = webUrl("https://login.example/a'b?x=$(id)&y=`id`;z|^%zz#\"(!)*")?.href ?? "";
  for (const [end, isOpen] of [
    ["0", true],
    ["4", false],
  ] as const) {
    const env = { DISPLAY: ":0", END: end, SEEN: seen };
    expect(await openUrl(strange, { ...openers.place("linux", env), clock: manualClock() })).toBe(isOpen);
    expect(await readFile(seen, "utf8")).toBe(`1\n${strange}\n`);
  }
  for (const path of ["/nowhere", "", "."])
    expect(await openUrl(url, openers.place("linux", { DISPLAY: ":0", PATH: path }))).toBe(false);
});

test("in a folder that is not trusted, no program of it opens the address, and none is on the opener's PATH", async () => {
  await using openers = await openersFolder();
  const root = join(openers.path, "workspace");
  for (const folder of ["bin", "node_modules/.bin"])
    await chmod(await openers.write(`workspace/${folder}/xdg-open`, "#!/bin/sh\n"), 0o755);
  await symlink(join(root, "bin"), join(openers.path, "linked-folder"));
  await mkdir(join(openers.path, "links"));
  await symlink(join(root, "bin", "xdg-open"), join(openers.path, "links", "xdg-open"));
  const planted = ["bin", join(root, "bin"), join(root, "node_modules/.bin"), join(openers.path, "linked-folder")];
  const inOrder = (...folders: readonly string[]) => ({ DISPLAY: ":0", PATH: folders.join(delimiter) });

  const { spawn, calls } = recorder();
  const bin = join(openers.path, "bin");
  const searched = openers.place("linux", inOrder(...planted, bin));
  expect(await openUrl(url, { ...searched, spawn })).toBe(true);
  expect(await openUrl(url, { ...searched, trusted: true, spawn })).toBe(true);
  expect(calls.map(({ command }) => command)).toEqual([join(bin, "xdg-open"), join(root, "bin", "xdg-open")]);
  expect(calls[0]?.options).toMatchObject({ env: { PATH: bin } });

  // A link outside to a program inside: the program is the workspace's.
  const linked = openers.place("linux", inOrder(join(openers.path, "links")));
  expect(await openUrl(url, { ...linked, spawn })).toBe(false);
  expect(calls).toHaveLength(2);
});

test("a browser that stays open is open", async () => {
  const clock = manualClock();
  let isStarted = false;
  const spawn: OpenUrlOptions["spawn"] = () => {
    isStarted = true;
    return Object.assign(new EventEmitter(), { unref: () => {} });
  };
  const place = { environment: { platform: "darwin", env: {}, home: "/home" }, root: "/work", trusted: true } as const;
  const opened = openUrl(url, { ...place, spawn, clock });
  await until(() => isStarted);
  await clock.pass(3000);
  expect(await opened).toBe(true);
});

test.each<[string, string | undefined]>([
  ["https://login.example", "https://login.example/"],
  ["HTTPS://Login.Example:443/A", "https://login.example/A"],
  ["https://bücher.example/ü?ü#ü", "https://xn--bcher-kva.example/%C3%BC?%C3%BC#%C3%BC"],
  ["https://login.example/?a=$x;'b'", "https://login.example/?a=%24x%3B%27b%27"],
  ["https://login.example/100%", "https://login.example/100%25"],
  ["https://login.example/%41%zz", "https://login.example/%41%25zz"],
  ["http://localhost:8080/cb?code=1", "http://localhost:8080/cb?code=1"],
  ["http://127.0.0.1:1/", "http://127.0.0.1:1/"],
  ["http://[::1]:1/", "http://[::1]:1/"],
  ["http://login.example/", undefined],
  ["https://user@login.example/", undefined],
  ["https://:word@login.example/", undefined],
  ["https://$(id).example/", undefined],
  ["https://a`id`.example/", undefined],
  ["https://-x.example/", undefined],
  ["javascript:alert(1)", undefined],
  ["file:///etc/passwd", undefined],
  ["ms-settings:", undefined],
  ["-https://login.example/", undefined],
  [" https://login.example/", undefined],
  ["https://login.example/\n", undefined],
  ["https://login.example/a\tb", undefined],
  ["https://login.example/\u202ecod.exe", undefined],
  ["https://login.example/\u0000", undefined],
  [`https://login.example/${"x".repeat(16_385 - 22)}`, undefined],
  [`https://login.example/${"x".repeat(16_384 - 22)}`, `https://login.example/${"x".repeat(16_384 - 22)}`],
  ["https://[2001:db8::1]/%7e?%C3%a9", "https://[2001:db8::1]/%7e?%C3%a9"],
  ["https://a_b.example/", "https://a_b.example/"],
  ["http://user@localhost/", undefined],
  ["", undefined],
])("%j may be opened as %j", (text, href) => {
  expect(webUrl(text)?.href).toBe(href);
});

test("a URL with a secret reaches the browser through a file that only the user can read, not on a command line", async () => {
  await using openers = await openersFolder();
  const secret = "http://127.0.0.1:4000/a?b=1&c=2#k=the-code";
  const file = join(openers.path, "private #1.html");
  const { spawn, calls } = recorder();
  expect(await openUrlThrough(file, secret, { ...openers.place("linux", { DISPLAY: ":0" }), spawn })).toBe(true);
  expect(calls.map(({ args }) => args)).toEqual([[pathToFileURL(file).href]]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const page = await readFile(file, "utf8");
  expect(page).toContain('content="0; url=http://127.0.0.1:4000/a?b=1&amp;c=2#k=the-code"');
  expect(page).toContain('<meta name="referrer" content="no-referrer">');
});

test("a file that is there already is not used: another program could have made it", async () => {
  await using openers = await openersFolder();
  const file = await openers.write("planted.html", "planted");
  const { spawn, calls } = recorder();
  const options = { ...openers.place("linux", { DISPLAY: ":0" }), spawn };
  await expect(openUrlThrough(file, "http://127.0.0.1:4000/", options)).rejects.toThrow("EEXIST");
  expect([calls, await readFile(file, "utf8")]).toEqual([[], "planted"]);
});

test.each(["javascript:alert(1)", 'http://127.0.0.1:1/"><script>', "http://example.org/", ""])(
  "%j is written into no file",
  async (text) => {
    await using openers = await openersFolder();
    const { spawn, calls } = recorder();
    const options = { ...openers.place("linux", { DISPLAY: ":0" }), spawn };
    const before = await readdir(openers.path);
    expect(await openUrlThrough(join(openers.path, "page.html"), text, options)).toBe(false);
    expect([calls, await readdir(openers.path)]).toEqual([[], before]);
  },
);
