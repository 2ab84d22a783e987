/** `fairlead secret`: stores, lists and deletes secrets. No command prints a value. */

import { HostError } from "@fairlead/core/errors";
import { openSecretStore, type SecretStore } from "@fairlead/core/files";
import { locate } from "@fairlead/core/settings";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { configurationOptions } from "../shell/configuration.ts";
import { askHidden, canAsk, readStdin } from "../shell/prompt.ts";
import { type Context, type Io, nameHint, type Verb } from "../shell/verb.ts";

const maxBytes = 64 * 1024;

/** `fairlead secret set`: stores a value that settings refer to as `${secret:NAME}`. */
const set: Verb = {
  help: `
Asks for the value without showing it. If stdin is not a terminal, reads the value from stdin and removes the last line
break.
The value is never a command-line argument: other programs can read arguments, and the shell saves them in its history.
Fairlead stores it in the system's keychain, or in an encrypted file. Settings refer to it as \${secret:NAME}.

Examples:
  fairlead secret set GITHUB_TOKEN
  gh auth token | fairlead secret set GITHUB_TOKEN
  fairlead secret set BRAVE_KEY --value-from BRAVE_API_KEY
  fairlead mcp add -e 'GITHUB_TOKEN=\${secret:GITHUB_TOKEN}' github npx -y @modelcontextprotocol/server-github`,

  define(command) {
    command
      .argument("<name>", "letters, digits, _ . -")
      .option("--value-from <variable>", "take the value of this environment variable");
  },

  async run(context) {
    const { io, out, globals, command, operands } = context;
    const name = checkedName(operands[0] ?? "");
    const value = await readValue(io, name, command.opts<{ readonly valueFrom?: string }>().valueFrom);
    if (value === "") throw new HostError("usage", "the value is empty; nothing was stored");
    const store = await openStore(context);
    const isReplaced = (await store.list()).includes(name);
    await store.set(name, value);
    if (globals.json) return out.json({ name, backend: store.backend });
    out.show(safe`stored "${toSafeLine(name)}" in ${storeName(store.backend)}`);
    out.say(safe`to use the secret in settings, write \${secret:${toSafeLine(name)}}`);
    if (isReplaced) out.say(safe`cannot be undone: the previous value was overwritten`);
    else out.undo(`fairlead secret remove ${name}`);
  },
};

async function readValue(io: Io, name: string, variable: string | undefined): Promise<string> {
  if (variable !== undefined) {
    const value = io.env[variable];
    if (value === undefined) throw new HostError("variable_unset", `the environment variable "${variable}" is not set`);
    return value;
  }
  if (canAsk(io)) return askHidden(io, safe`value of ${toSafeLine(name)} (not shown): `);
  if (io.stdin.isTTY === true)
    throw new HostError("usage", "cannot ask for the value: stderr is not a terminal", {
      next: `fairlead secret set ${name} < FILE`,
    });
  return (await readAll(io)).replace(/\r?\n$/, "");
}

async function readAll(io: Io): Promise<string> {
  const bytes = await readStdin(io, maxBytes, `the value is larger than ${maxBytes} bytes; nothing was stored`);
  try {
    // `TextDecoder` removes a byte order mark at the start of the value.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const next = "encode the value as text, for example with base64, if the server accepts that";
    throw new HostError("usage", "the value is not UTF-8 text; nothing was stored", { next, cause });
  }
}

/** `fairlead secret list`: prints the names of stored secrets, never their values. */
const list: Verb = {
  help: `
Prints names only; no command prints a value. A server gets the secrets that its entry in the settings names.

Examples:
  fairlead secret list
  fairlead secret list --json`,

  async run(context) {
    const { out, globals } = context;
    const store = await openStore(context);
    const names = await store.list();
    if (globals.json) return out.json({ backend: store.backend, names });
    out.say(safe`in ${storeName(store.backend)}:`);
    if (names.length > 0) out.print(joinSafe(names.map(toSafeLine)));
    else out.say(safe`no secrets stored; next: fairlead secret set NAME`);
  },
};

/** `fairlead secret remove`: deletes a stored secret. */
const remove: Verb = {
  help: "\nA server whose settings refer to the secret no longer starts.\n\nExample:\n  fairlead secret remove GITHUB_TOKEN",

  define: (command) => command.argument("<name>", "name of the secret (see: fairlead secret list)"),

  async run(context) {
    const { out, globals, operands } = context;
    const [name = ""] = operands;
    const store = await openStore(context);
    if (!(await store.remove(name))) {
      const hint = nameHint(name, await store.list());
      throw new HostError("usage", `no secret "${name}" is stored${hint}`, { next: "fairlead secret list" });
    }
    if (globals.json) return out.json({ name, removed: true, backend: store.backend });
    out.show(safe`removed "${toSafeLine(name)}" from ${storeName(store.backend)}`);
  },
};

async function openStore(context: Context): Promise<SecretStore> {
  const { state } = await locate(configurationOptions(context));
  const { env, platform } = context.io;
  return openSecretStore({ directory: state, env, platform });
}

/**
 * Returns the name if it can be written as `${secret:NAME}`.
 * @throws HostError `usage`
 */
function checkedName(name: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(name)) return name;
  throw new HostError("usage", `"${name}" is not a valid secret name: use letters, digits, "_", "." and "-"`, {
    next: "fairlead secret set GITHUB_TOKEN",
  });
}

function storeName(backend: SecretStore["backend"]): SafeText {
  return backend === "keychain" ? safe`the system's keychain` : safe`an encrypted file in Fairlead's own folder`;
}

/** The commands `fairlead secret set`, `list` and `remove`. */
export const verbs: Readonly<Record<"set" | "list" | "remove", Verb>> = { set, list, remove };
