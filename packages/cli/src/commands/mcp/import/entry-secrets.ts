/** Replaces the literal secrets of an imported entry by references to the secret store. Pure functions. */

import { isObject } from "@fairlead/wire/json";
import { runsCode } from "../../../output/servers/server-notes.ts";
import { looksSecret, secretName } from "../../../output/servers/server-secrets.ts";

type Entry = Readonly<Record<string, unknown>>;

/** A literal secret found in an imported entry. */
export interface FoundSecret {
  /** Where the secret is in the entry, for example `env.GITHUB_TOKEN`. */
  readonly key: string;
  readonly value: string;
  /** The suggested name in the store. If the store has another value with this name, the secret gets a longer name. */
  readonly name: string;
}

/** Returns the name under which the secret is stored. */
export type NameSecret = (secret: FoundSecret) => string;

/** Returns the entry with `${secret:NAME}` in place of each literal secret. Other text does not change. */
export function withStoredSecrets(server: string, entry: Entry, nameOf: NameSecret): Entry {
  const refer = (key: string, value: string, name: string): string => {
    // In settings, `$$` stands for one dollar sign.
    const secret = { key, value: value.replaceAll("$$", "$"), name };
    return `\${secret:${nameOf(secret)}}`;
  };
  const ofServer = (name: string): string => secretName(`${server}_${name.replaceAll(/([a-z])(?=[A-Z])/g, "$1_")}`);
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => {
      if ((key === "env" || key === "headers" || key === "oauth") && isObject(value)) {
        const texts = Object.entries(value).map(([name, text]) => {
          if (typeof text !== "string") return [name, text];
          if (!looksSecret(name, text))
            return [name, isAddress(text) ? inAddress(text, `${key}.${name}`, `${name}_`) : text];
          const [, scheme = "", secret = text] = /^((?:Bearer|Basic|Token)\s+)(\S[\s\S]*)$/i.exec(text) ?? [];
          const stored = key === "env" ? secretName(name) : ofServer(name);
          return [name, scheme + refer(`${key}.${name}`, secret, stored)];
        });
        return [key, Object.fromEntries(texts)];
      }
      if ((key === "url" || key === "httpUrl") && typeof value === "string") return [key, inAddress(value, key)];
      // An argument that is program code stays unchanged, because the user approves exactly this code.
      if (key === "args" && Array.isArray(value) && !runsCode(String(entry["command"]), value.map(String)))
        return [key, value.map((argument, at) => inArgument(argument, value[at - 1], `args[${at}]`))];
      return [key, value];
    }),
  );

  function inAddress(address: string, key: string, prefix = ""): string {
    return address
      .replace(/^([\w+.-]+:\/\/[^/?#:@]*:)([^/?#@]*)(?=@)/, (all, start: string, password: string) =>
        looksSecret("password", password)
          ? start + refer(`${key} (its password)`, password, ofServer(`${prefix}PASSWORD`))
          : all,
      )
      .replaceAll(/([?&])([^=&#?\s]+)=([^&#\s]*)/g, (all, sign: string, name: string, text: string) =>
        looksSecret(name, text)
          ? `${sign}${name}=${refer(`${key} (its parameter ${name})`, text, ofServer(prefix + name))}`
          : all,
      );
  }

  function inArgument(argument: unknown, before: unknown, key: string): unknown {
    if (typeof argument !== "string") return argument;
    const [, flag = "", text = ""] = /^(--?[\w.-]+)=([\s\S]+)$/.exec(argument) ?? [];
    if (flag !== "" && looksSecret(flag, text) && !isPath(text))
      return `${flag}=${refer(key, text, ofServer(nameOfFlag(flag)))}`;
    const isValue = typeof before === "string" && /^--?[\w.-]+$/.test(before) && !argument.startsWith("-");
    if (isValue && looksSecret(before, argument) && !isPath(argument))
      return refer(key, argument, ofServer(nameOfFlag(before)));
    return isAddress(argument) ? inAddress(argument, key) : argument;
  }
}

/** Whether the text is a URL of any scheme, including databases such as `postgres://…`. */
function isAddress(text: string): boolean {
  return /^[a-z][\w+.-]*:\/\//i.test(text);
}

function isPath(text: string): boolean {
  return /^(~|\.{1,2})?[/\\]/.test(text);
}

function nameOfFlag(flag: string): string {
  return flag.replace(/^-+/, "");
}
