import { describe, expect, test } from "vitest";
import { withStoredSecrets } from "../../../../src/commands/mcp/import/import-steps.ts";

type Entry = Readonly<Record<string, unknown>>;

/** The entry with references, and each secret as `key: value → name`. */
function stored(entry: Entry): readonly [entry: Entry, secrets: readonly string[]] {
  const secrets: string[] = [];
  const after = withStoredSecrets("my server", entry, ({ key, value, name }) => {
    secrets.push(`${key}: ${value} → ${name}`);
    return name;
  });
  return [after, secrets];
}

describe("a literal secret becomes a reference", () => {
  test.each<[entry: Entry, after: Entry, secrets: readonly string[]]>([
    [
      { env: { API_KEY: "one", "my-token": "a$$b$$", OTHER: "x", N: 7, TOKEN: "$REF" } },
      { env: { API_KEY: "${secret:API_KEY}", "my-token": "${secret:MY_TOKEN}", OTHER: "x", N: 7, TOKEN: "$REF" } },
      ["env.API_KEY: one → API_KEY", "env.my-token: a$b$ → MY_TOKEN"],
    ],
    [
      { headers: { Authorization: "Bearer  abc def", "X-Auth": "token xyz", Cookie: "basic", Other: "Bearer" } },
      {
        headers: {
          Authorization: "Bearer  ${secret:MY_SERVER_AUTHORIZATION}",
          "X-Auth": "token ${secret:MY_SERVER_X_AUTH}",
          Cookie: "${secret:MY_SERVER_COOKIE}",
          Other: "Bearer",
        },
      },
      [
        "headers.Authorization: abc def → MY_SERVER_AUTHORIZATION",
        "headers.X-Auth: xyz → MY_SERVER_X_AUTH",
        "headers.Cookie: basic → MY_SERVER_COOKIE",
      ],
    ],
    [
      { oauth: { clientId: "me", clientSecret: "s", enabled: true } },
      { oauth: { clientId: "me", clientSecret: "${secret:MY_SERVER_CLIENT_SECRET}", enabled: true } },
      ["oauth.clientSecret: s → MY_SERVER_CLIENT_SECRET"],
    ],
    [
      { env: { DATABASE: "postgres://me:pw@host/db?token=t&x=1", PLAIN: "not://" } },
      {
        env: {
          DATABASE:
            "postgres://me:${secret:MY_SERVER_DATABASE_PASSWORD}@host/db?token=${secret:MY_SERVER_DATABASE_TOKEN}&x=1",
          PLAIN: "not://",
        },
      },
      [
        "env.DATABASE (its password): pw → MY_SERVER_DATABASE_PASSWORD",
        "env.DATABASE (its parameter token): t → MY_SERVER_DATABASE_TOKEN",
      ],
    ],
    [
      { url: "https://:pw@host/?apiKey=k#x?token=z", httpUrl: "https://a:@host/?a=b&token=$T&api_key=l" },
      {
        url: "https://:${secret:MY_SERVER_PASSWORD}@host/?apiKey=${secret:MY_SERVER_API_KEY}#x?token=${secret:MY_SERVER_TOKEN}",
        httpUrl: "https://a:@host/?a=b&token=$T&api_key=${secret:MY_SERVER_API_KEY}",
      },
      [
        "url (its password): pw → MY_SERVER_PASSWORD",
        "url (its parameter apiKey): k → MY_SERVER_API_KEY",
        "url (its parameter token): z → MY_SERVER_TOKEN",
        "httpUrl (its parameter api_key): l → MY_SERVER_API_KEY",
      ],
    ],
    [
      { command: "run", args: ["--api-key=k", "-token", "t", "--token", "--x", "--token=/run/t", "--auth", "~/t", 7] },
      {
        command: "run",
        args: [
          "--api-key=${secret:MY_SERVER_API_KEY}",
          "-token",
          "${secret:MY_SERVER_TOKEN}",
          "--token",
          "--x",
          "--token=/run/t",
          "--auth",
          "~/t",
          7,
        ],
      },
      ["args[0]: k → MY_SERVER_API_KEY", "args[2]: t → MY_SERVER_TOKEN"],
    ],
    [
      { command: "run", args: ["token", "t", "--password", "../p", "https://h/?token=t", "x=https://h/?token=t"] },
      {
        command: "run",
        args: [
          "token",
          "t",
          "--password",
          "../p",
          "https://h/?token=${secret:MY_SERVER_TOKEN}",
          "x=https://h/?token=t",
        ],
      },
      ["args[4] (its parameter token): t → MY_SERVER_TOKEN"],
    ],
    [
      { command: "run", args: ["--name=sk-abc", "sk-abc", "--name", "sk-def", "--limit", "5"] },
      {
        command: "run",
        args: ["--name=${secret:MY_SERVER_NAME}", "sk-abc", "--name", "${secret:MY_SERVER_NAME}", "--limit", "5"],
      },
      ["args[0]: sk-abc → MY_SERVER_NAME", "args[3]: sk-def → MY_SERVER_NAME"],
    ],
  ])("%j", (entry, after, secrets) => {
    expect(stored(entry)).toEqual([after, secrets]);
  });
});

test.each<[entry: Entry]>([
  [{ command: "/bin/sh", args: ["-c", "run --token=t"] }],
  [{ command: "node", args: ["-e", "run()", "--token", "t"] }],
  [{ env: "TOKEN=t", headers: ["token"], oauth: null, args: "--token=t", url: 7, httpUrl: null }],
  [{ description: "token: sk-abc", token: "t" }],
])("%j stays unchanged", (entry) => {
  expect(stored(entry)).toEqual([entry, []]);
});
