/** Finds servers, tools and views by a few letters, and goes there. Opened with Ctrl-K or ⌘K; works without a mouse. */

import type { VNode } from "preact";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
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
  const [{ query, at }, setState] = useState({ query: "", at: 0 });
  // Keys can be pressed faster than the page is drawn, so they count from here and not from the drawing.
  const latest = useRef({ query, at });
  const change = (next: { readonly query: string; readonly at: number }): void => {
    latest.current = next;
    setState(next);
  };
  const list = useId();
  const box = useRef<HTMLDivElement>(null);
  const options = useOptions();
  const found = useMemo(() => search(options, query), [options, query]);
  useLayoutEffect(() => {
    box.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, found]);
  const choose = (option: Option | undefined): void => {
    if (option === undefined) return;
    // Closing returns the focus; the new view then takes it.
    onClose();
    option.run();
  };
  const onKey = (event: KeyboardEvent): void => {
    const now = latest.current;
    const choices = search(options, now.query);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && choices.length > 0)
      change({ ...now, at: (now.at + step + choices.length) % choices.length });
    else if (event.key === "Enter") choose(choices[now.at]);
    else return;
    event.preventDefault();
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
          aria-activedescendant={found[at] === undefined ? undefined : `${list}-${at}`}
          placeholder="Find a server, tool or view"
          autocomplete="off"
          spellcheck={false}
          value={query}
          onInput={({ currentTarget }) => change({ query: currentTarget.value, at: 0 })}
          onKeyDown={onKey}
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
            aria-selected={index === at}
            onPointerMove={() => index !== at && change({ query, at: index })}
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
  if (words.length === 0) return options.filter(({ id }) => !id.startsWith("restart ")).slice(0, mostShown);
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
  return scored
    .sort((one, other) => one.score - other.score)
    .map(({ option }) => option)
    .slice(0, mostShown);
}
