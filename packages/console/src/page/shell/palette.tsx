/** Finds servers, tools and views by a few letters, and goes there. Opened with Ctrl-K or ⌘K; works without a mouse. */

import type { VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { toCommandError, useApp, useCommand } from "../app.ts";
import { Dialog } from "../components/dialog.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { ServerStatus } from "../components/state-mark.tsx";
import { Text } from "../components/text.tsx";
import { useRows } from "../live.ts";
import { toAddress } from "../router.ts";
import { findView, views } from "../views.ts";

interface Option {
  readonly id: string;
  readonly icon: IconName;
  readonly name: string;
  readonly hint: string | VNode;
  /** Words that also find the option. */
  readonly words: string;
  readonly run: () => unknown;
}

const mostShown = 50;

export function Palette({ onClose }: { readonly onClose: () => void }): VNode {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const box = useRef<HTMLDivElement>(null);
  const options = useOptions();
  const found = useMemo(() => search(options, query).slice(0, mostShown), [options, query]);
  const current = Math.min(at, Math.max(0, found.length - 1));
  useEffect(() => setAt(0), [query]);
  useLayoutEffect(() => {
    box.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [current, found]);
  const choose = (option: Option | undefined): void => {
    if (option === undefined) return;
    // Closing returns the focus; the new view then takes it.
    onClose();
    option.run();
  };
  return (
    <Dialog title="Find" class="palette" isBare onClose={onClose}>
      <div class="palette-input">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Find a server, tool or view"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={found[current] === undefined ? undefined : `${list}-${current}`}
          placeholder="Find a server, tool or view"
          autocomplete="off"
          spellcheck={false}
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (step !== undefined && found.length > 0) setAt((current + step + found.length) % found.length);
            else if (event.key === "Enter") choose(found[current]);
            else return;
            event.preventDefault();
          }}
        />
        <kbd>Esc</kbd>
      </div>
      <div class="palette-list" id={list} role="listbox" aria-label="Found" ref={box}>
        {found.map((option, index) => (
          // The keyboard chooses options through the input, as a combobox does.
          <div
            key={option.id}
            id={`${list}-${index}`}
            class="palette-option"
            role="option"
            aria-selected={index === current}
            onPointerMove={() => setAt(index)}
            onClick={() => choose(option)}
          >
            <Icon name={option.icon} />
            <span class="palette-name">
              <Text of={option.name} />
            </span>
            <span class="palette-hint">
              {typeof option.hint === "string" ? <Text of={option.hint} /> : option.hint}
            </span>
          </div>
        ))}
        {found.length === 0 && (
          <div class="palette-option" role="option" aria-selected="false" aria-disabled="true">
            Nothing has these letters
          </div>
        )}
      </div>
    </Dialog>
  );
}

function useOptions(): readonly Option[] {
  const { store, router, api, announcer } = useApp();
  const servers = useRows(store.servers);
  const hasTools = findView("tools") !== undefined;
  const tools = useCommand("tools/list", hasTools ? {} : undefined);
  return useMemo(() => {
    const go = (...path: readonly string[]) => ({ run: () => router.go(toAddress(path)) });
    const restart = async (server: string): Promise<void> => {
      await api.run("servers/restart", { servers: [server] });
      announcer.done(`${server} restarts`);
    };
    return [
      ...views.map(({ id, title, icon, words }) => ({
        id: `view ${id}`,
        icon,
        name: title,
        hint: words,
        words,
        ...go(id),
      })),
      ...servers.map((row) => ({
        id: `server ${row.name}`,
        icon: "servers" as const,
        name: row.name,
        hint: <ServerStatus row={row} />,
        words: "server",
        ...go("servers", row.name),
      })),
      ...(tools.value?.tools ?? []).map(({ server, tool, description }) => ({
        id: `tool ${server} ${tool}`,
        icon: "tools" as const,
        name: `${server}.${tool}`,
        hint: description,
        words: description,
        ...go("tools", server, tool),
      })),
      ...servers.map(({ name }) => ({
        id: `restart ${name}`,
        icon: "again" as const,
        name: `Restart ${name}`,
        hint: "server",
        words: "restart server",
        run: () => restart(name).catch((error: unknown) => announcer.failed(toCommandError(error))),
      })),
    ];
  }, [servers, tools.value]);
}

/** The options that have all words of the query, those that begin with it first. */
function search(options: readonly Option[], query: string): readonly Option[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  // Without a query, the actions would hide what there is to see.
  if (words.length === 0) return options.filter(({ id }) => !id.startsWith("restart "));
  const scored = options.flatMap((option) => {
    const name = option.name.toLowerCase();
    const all = `${name} ${option.words.toLowerCase()}`;
    if (!words.every((word) => all.includes(word))) return [];
    const [first = ""] = words;
    const score = name.startsWith(first)
      ? 0
      : name.includes(`.${first}`) || name.includes(` ${first}`)
        ? 1
        : name.includes(first)
          ? 2
          : 3;
    return [{ option, score }];
  });
  return scored.sort((one, other) => one.score - other.score).map(({ option }) => option);
}
