import { jsonMaxDepth } from '../defaults.ts';

/**
 * `JSON.stringify` for a tree of any shape that is up to `jsonMaxDepth` levels deep, with what an answer or a record puts
 * around it. The native one ends with the stack: after 4,000 levels of most objects, but after 2,000 of some (those with
 * numbers for names, or with many properties), so that a number of levels alone does not tell what it can write.
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return writtenOut(value, error);
  }
}

/** Nothing that is to be written is deeper; a cycle is. */
const writtenMaxDepth = 2 * jsonMaxDepth;

type Step = { readonly text: string } | { readonly value: unknown; readonly depth: number };

/** Iterative, so that no depth of nesting ends it. */
function writtenOut(root: unknown, tooDeep: RangeError): string {
  const written: string[] = [];
  const pending: Step[] = [{ value: root, depth: 0 }];
  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    if ('text' in step) {
      written.push(step.text);
      continue;
    }
    const { value, depth } = step;
    if (!isTree(value)) {
      written.push(JSON.stringify(value) ?? 'null');
      continue;
    }
    if (depth === writtenMaxDepth) throw tooDeep;
    const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
    written.push(open);
    pending.push({ text: close });
    const children = childrenOf(value);
    for (const [index, [label, child]] of [...children.entries()].reverse()) {
      pending.push({ value: child, depth: depth + 1 }, { text: `${index === 0 ? '' : ','}${label}` });
    }
  }
  return written.join('');
}

/** What has a text of its own, such as a Date, is a leaf. */
function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'toJSON') !== 'function';
}

function childrenOf(value: object): [label: string, child: unknown][] {
  if (Array.isArray(value)) return value.map((item) => ['', item]);
  return Object.entries(value)
    .filter(([, child]) => child !== undefined)
    .map(([name, child]) => [`${JSON.stringify(name)}:`, child]);
}
