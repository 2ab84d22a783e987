/** Components that are drawn again only if one of their properties changes, or a value to which they subscribe. */

import { Component, type FunctionComponent, type VNode } from "preact";

/** Returns the component without drawings that would show the same. Properties are compared by identity. */
export function memo<P extends object>(Shown: FunctionComponent<P>): new () => Component<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return Object.entries(next).some(([name, value]) => !Object.is(value, Reflect.get(this.props, name)));
    }

    override render(props: P): VNode {
      return <Shown {...props} />;
    }
  };
}
