/** Links: to addresses of the page, and to the web. A link to the web shows its host, and says where it leads if its text does not. */

import { type ComponentChildren, Fragment, type VNode } from "preact";
import { useState } from "preact/hooks";
import { useApp } from "../app.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";
import { Text } from "./text.tsx";

export interface LinkProps {
  /** An address that `toAddress` has written. */
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string | undefined;
  readonly isCurrent?: boolean | undefined;
  readonly focusKey?: string | undefined;
  readonly onFollow?: (() => void) | undefined;
}

export function Link({ to, children, class: name, isCurrent, focusKey, onFollow }: LinkProps): VNode {
  const { router } = useApp();
  return (
    <a
      href={to}
      class={name}
      aria-current={isCurrent === true ? "page" : undefined}
      data-focus={focusKey}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        onFollow?.();
        router.go(to);
      }}
    >
      {children}
    </a>
  );
}

export interface OutsideLinkProps {
  readonly url: string;
  /** The words of the link, if they are not the address itself. */
  readonly children?: string | undefined;
}

/**
 * A link that a server or a file has written. Only `http:` and `https:` can be opened; anything else is text. If the words are
 * not exactly the address that opens, the person is asked first.
 */
export function OutsideLink({ url, children }: OutsideLinkProps): VNode {
  const [isAsked, setAsked] = useState(false);
  const target = webAddress(url);
  if (target === undefined) return <Text of={children ?? url} exact />;
  const says = children ?? url;
  const onPress = (event: MouseEvent): void => {
    // The right button opens a menu.
    if (event.button === 2 || saysTarget(says, target)) return;
    event.preventDefault();
    setAsked(true);
  };
  return (
    <Fragment>
      <a
        href={target.href}
        target="_blank"
        rel="noopener noreferrer"
        class="outside-link"
        onClick={onPress}
        onAuxClick={onPress}
      >
        <Text of={says} exact />
        {!saysTarget(says, target) && (
          <span class="muted">
            {" "}
            (<Text of={target.host} exact />)
          </span>
        )}
        <Icon name="outside" />
      </a>
      {isAsked && <LeaveDialog target={target} onClose={() => setAsked(false)} />}
    </Fragment>
  );
}

/** Asks before a link opens another address than its words say. */
export function LeaveDialog({ target, onClose }: { readonly target: URL; readonly onClose: () => void }): VNode {
  return (
    <Dialog title={`Open ${target.host}?`} onClose={onClose}>
      <p>The link leads to:</p>
      <p class="code-line">
        <Text of={target.href} exact />
      </p>
      <div class="dialog-actions">
        <Button onPress={onClose}>Stay here</Button>
        <Button
          kind="primary"
          onPress={() => {
            window.open(target.href, "_blank", "noopener,noreferrer");
            onClose();
          }}
        >
          Open it
        </Button>
      </div>
    </Dialog>
  );
}

/**
 * Reads an address of the web. Undefined for anything that is none, such as `javascript:`, and for an address with a user
 * name: in `https://bank.example@evil.example/`, the host is `evil.example`.
 */
export function webAddress(url: string): URL | undefined {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  const isWeb = parsed.protocol === "https:" || parsed.protocol === "http:";
  return isWeb && parsed.username === "" && parsed.password === "" ? parsed : undefined;
}

/** Whether the words of a link are the address that it opens. */
export function saysTarget(words: string, { href }: URL): boolean {
  return words === href || `${words}/` === href;
}
