/** The frame of the console: navigation, the state of the connection, and the view of the address. */

import type { ComponentChildren, ComponentType, VNode } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { toCommandError, useApp, useRoute } from "../app.ts";
import { clockText } from "../components/age.tsx";
import { Button, IconButton } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Icon } from "../components/icon.tsx";
import { Link } from "../components/link.tsx";
import { Empty, Failure } from "../components/notice.tsx";
import { View } from "../components/panel.tsx";
import { StateMark } from "../components/state-mark.tsx";
import { Text, visibleText } from "../components/text.tsx";
import { Toasts } from "../components/toasts.tsx";
import { useLive } from "../live.ts";
import { toAddress, type ViewAddress } from "../router.ts";
import { readTheme, setTheme, type Theme } from "../theme.ts";
import { findView, type ViewEntry, views } from "../views.ts";
import { Brand, SessionOver } from "./messages.tsx";
import { Palette } from "./palette.tsx";

const isMac = navigator.platform.startsWith("Mac");

export function Shell(): VNode {
  const { store } = useApp();
  const connection = useLive(store.connection);
  const about = useLive(store.about);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      setPaletteOpen(true);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  if (connection === "closed" || connection === "refused") return <SessionOver reason={connection} />;
  return (
    <div class={`shell ${connection === "lost" ? "is-stale" : ""}`}>
      <button type="button" class="button skip-link" onClick={() => document.getElementById("content")?.focus()}>
        Go to the content
      </button>
      <aside class="side" aria-label="Navigation">
        <Brand />
        <Navigation />
        {about !== undefined && (
          <div class="side-foot">
            {about.model !== undefined && (
              <div>
                model <Text of={about.model} exact />
              </div>
            )}
            <div>version {about.version}</div>
          </div>
        )}
      </aside>
      <header class="top">
        <IconButton class="menu-button" icon="menu" label="Open the navigation" onPress={() => setMenuOpen(true)} />
        <ConnectionMark />
        {about !== undefined && (
          <span class="top-workspace" title={visibleText(about.workspace.root, false, true)}>
            <Text of={shortPath(about.workspace.root)} exact />{" "}
            <span title={visibleText(about.workspace.why)}>
              ({about.workspace.isTrusted ? "trusted" : "not trusted"})
            </span>
          </span>
        )}
        <span class="top-space" />
        <button type="button" class="top-search" onClick={() => setPaletteOpen(true)}>
          <Icon name="search" />
          <span class="top-search-words">Find a server, tool or view</span>
          <kbd>{isMac ? "⌘K" : "Ctrl K"}</kbd>
          <span class="visually-hidden">Open the search</span>
        </button>
        <ThemeSwitch />
      </header>
      <main class="content" id="content" tabIndex={-1}>
        <LostBanner />
        <CurrentView />
      </main>
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
      {isMenuOpen && (
        <Dialog title="Navigation" class="menu-dialog" onClose={() => setMenuOpen(false)}>
          <Navigation onFollow={() => setMenuOpen(false)} />
        </Dialog>
      )}
      <Toasts />
    </div>
  );
}

const groups = ["attention", "servers", "records", "rules"] as const;

function Navigation({ onFollow }: { readonly onFollow?: () => void }): VNode {
  const { path } = useRoute();
  const current = findView(path[0]) ?? views[0];
  return (
    <nav class="nav" aria-label="Views">
      {groups
        .map((group) => views.filter((view) => view.group === group))
        .filter((members) => members.length > 0)
        .map((members) => (
          <ul key={members[0]?.group}>
            {members.map((view) => (
              <li key={view.id}>
                <Link to={toAddress([view.id])} isCurrent={view === current} onFollow={onFollow}>
                  <Icon name={view.icon} />
                  {view.title}
                  {view.count !== undefined && <NavigationCount view={view} count={view.count} />}
                </Link>
              </li>
            ))}
          </ul>
        ))}
    </nav>
  );
}

function NavigationCount({
  view,
  count,
}: {
  readonly view: ViewEntry;
  readonly count: NonNullable<ViewEntry["count"]>;
}): VNode | null {
  const { store } = useApp();
  useLive(store.questions.ids);
  useLive(store.servers.revision);
  useLive(store.about);
  const number = count(store);
  if (number === undefined) return null;
  return <span class={`nav-count ${view.isUrgent === true ? "nav-needs" : ""}`}>{number}</span>;
}

function ConnectionMark(): VNode {
  const { store } = useApp();
  const connection = useLive(store.connection);
  const about = useLive(store.about);
  if (connection === "lost") return <StateMark word="not connected" shape="cross" tone="bad" />;
  if (connection === "live" && about !== undefined) return <StateMark word="live" shape="check" tone="ok" />;
  return <StateMark word="connecting" shape="half" tone="busy" />;
}

function LostBanner(): VNode | null {
  const { store, reconnect } = useApp();
  const since = useLive(store.lostSince);
  if (since === undefined) return null;
  return (
    <div class="banner" role="alert">
      <strong>Not connected to fairlead</strong>
      <span>since {clockText(since)}. The page shows what it last heard.</span>
      <Button onPress={reconnect}>Try now</Button>
    </div>
  );
}

const themes = [
  { theme: "system", icon: "system", label: "Colours as the system has them" },
  { theme: "light", icon: "sun", label: "Light" },
  { theme: "dark", icon: "moon", label: "Dark" },
] as const;

/** One button that goes through the three choices. Its name says what is chosen. */
function ThemeSwitch(): VNode {
  const [theme, setChosen] = useState<Theme>(readTheme);
  const at = themes.findIndex((each) => each.theme === theme);
  const [shown, next] = [themes[at] ?? themes[0], themes[(at + 1) % themes.length] ?? themes[0]];
  return (
    <IconButton
      icon={shown.icon}
      label={`Colours: ${shown.theme}. Change to ${next.theme}`}
      onPress={() => {
        setTheme(next.theme);
        setChosen(next.theme);
      }}
    />
  );
}

/** Views that have been loaded. They are drawn at once the next time. */
type LoadedViews = Map<string, ComponentType<ViewAddress>>;

function CurrentView(): VNode {
  const { announcer } = useApp();
  const { path } = useRoute();
  const loaded = useRef<LoadedViews>(new Map());
  const [, draw] = useState(0);
  const view = path.length === 0 ? views[0] : findView(path[0]);
  const load = view === undefined || loaded.current.has(view.id) ? undefined : view.load();
  if (view !== undefined && load !== undefined && !(load instanceof Promise)) loaded.current.set(view.id, load);
  useEffect(() => {
    if (view === undefined || !(load instanceof Promise)) return;
    load.then(
      (component) => {
        loaded.current.set(view.id, component);
        draw((count) => count + 1);
      },
      () => announcer.failed({ message: `${view.title} could not be loaded`, next: "reload the page" }),
    );
  }, [view]);
  if (view === undefined)
    return (
      <View title="Nothing here">
        <Empty title={`There is no view at this address`}>
          <p>
            <Link to={toAddress([views[0].id])}>Go to {views[0].title}</Link>
          </p>
        </Empty>
      </View>
    );
  const Shown = loaded.current.get(view.id);
  return (
    <Contained key={view.id} title={view.title}>
      {Shown !== undefined && <Shown path={path.slice(1)} />}
    </Contained>
  );
}

/** A mistake of the page in one view is said there. The others stay usable, the inbox among them. */
function Contained({ title, children }: { readonly title: string; readonly children: ComponentChildren }): VNode {
  const route = useRoute();
  const [error, reset] = useErrorBoundary() as [unknown, () => void];
  useEffect(reset, [route]);
  if (error === undefined) return <>{children}</>;
  return (
    <View title={title}>
      <Failure error={toCommandError(error)} onRetry={reset} />
    </View>
  );
}

/** The last two folders of a path: the end tells more than the beginning. */
function shortPath(path: string): string {
  const parts = path.split(/[/\\]/).filter(Boolean);
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join("/")}`;
}
