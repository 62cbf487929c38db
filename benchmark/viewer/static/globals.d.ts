// The libraries of `vendor/`, as far as the page uses them: plain scripts that leave their names in the window.

type Keys = readonly unknown[];

declare const preact: {
  h: (...parts: unknown[]) => unknown;
  render: (node: unknown, parent: Element) => void;
  Component: new () => { state: { fault: unknown } };
};

declare const preactHooks: {
  useEffect: (effect: () => (() => void) | undefined, keys?: Keys) => void;
  useLayoutEffect: (effect: () => (() => void) | undefined, keys?: Keys) => void;
  useRef: <T>(initial: T) => { current: T };
  useState: <T>(initial: T | (() => T)) => [T, (value: T) => void];
};

declare const htm: {
  bind: (h: typeof preact.h) => (strings: TemplateStringsArray, ...values: unknown[]) => unknown;
};

declare const Diff: {
  diffWordsWithSpace: (
    before: string,
    after: string,
    options: { timeout: number },
  ) => { value: string; added?: boolean; removed?: boolean }[] | undefined;
};

// Vega-Embed, once it is unpacked.
interface Drawn {
  finalize: () => void;
  view: {
    width: () => number;
    toSVG: () => Promise<string>;
    toImageURL: (kind: "png", scale: number) => Promise<string>;
    addEventListener: (kind: string, heard: (event: Event, item?: { datum?: { key?: number } }) => void) => void;
  };
}

interface Window {
  vegaEmbed: (target: Element, specification: object, options: object) => Promise<Drawn>;
}
