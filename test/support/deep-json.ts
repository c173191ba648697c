/** JSON of so many levels, in each shape that `JSON.stringify` goes down at another cost of the stack. */
export function deepJson(levels: number): Record<string, string> {
  const twenty = Array.from({ length: 20 }, (_, index) => `"k${index}":1`);
  return {
    objects: nested(levels, '{"a":', '}'),
    lists: nested(levels, '[', ']'),
    'objects with a number for a name': nested(levels, '{"1":', '}'),
    'objects of many properties': nested(levels, `{${twenty},"z":`, '}'),
    'lists in objects': nested(levels / 2, '{"1":[0,', ']}'),
  };
}

function nested(levels: number, open: string, close: string): string {
  return `${open.repeat(levels)}1${close.repeat(levels)}`;
}
