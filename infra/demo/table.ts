/** Rows as an aligned table, its numbers to the right. */
export function formatTable(
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const cells = [columns, ...rows.map((row) => row.map(formatCell))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const lines = cells.map((row, index) =>
    row
      .map((cell, column) => {
        const isNumber = typeof rows[0]?.[column] === 'number';
        return isNumber ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
      })
      .join('  ')
      .trimEnd()
      .concat(index === 0 ? `\n${widths.map((width) => '-'.repeat(width)).join('  ')}` : ''),
  );
  return lines.join('\n');
}

function formatCell(cell: string | number): string {
  return typeof cell === 'number' ? cell.toLocaleString('en-US', { maximumFractionDigits: 1 }) : cell;
}
