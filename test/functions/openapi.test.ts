import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../functions/http/api/document.ts';
import { problems } from '../../functions/http/http-error.ts';
import { operations, routes } from '../../functions/http/operations.ts';

test('the document is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(JSON.parse(JSON.stringify(openApiDocument)));

  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
});

test('it describes every route, and every code is one that a route may answer with', () => {
  const text = JSON.stringify(openApiDocument.paths);
  for (const { method, path } of routes) {
    const template = path.replace('+}', '}');
    expect(openApiDocument.paths).toHaveProperty([template, method.toLowerCase(), 'responses']);
  }
  for (const code of Object.keys(problems)) {
    const comesFromRouting = ['invalid_option', 'method_not_allowed'].includes(code);
    if (!comesFromRouting) expect(text).toContain(`\`${code}\``);
  }
});

test('operations have names of their own, a tag that is described, and the query parameters that the server takes', () => {
  const seen = new Set<string>();
  for (const { method, path, operation } of routes) {
    const paths = openApiDocument.paths as Record<string, Record<string, Record<string, unknown>>>;
    const described = paths[path.replace('+}', '}')]?.[method.toLowerCase()];
    const inQuery = ((described?.parameters ?? []) as { name: string; in: string }[]).filter(
      (one) => one.in === 'query',
    );
    expect(inQuery.map(({ name }) => name)).toEqual(Object.keys(operations[operation].query));
    expect(openApiDocument.tags.map(({ name }) => [name])).toContainEqual(described?.tags);
    expect(seen).not.toContain(described?.operationId);
    seen.add(String(described?.operationId));
  }
});

test('every reference leads somewhere, and nothing is described that is not used', () => {
  const text = JSON.stringify(openApiDocument);
  const used = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name));

  expect(used).toEqual(new Set(Object.keys(openApiDocument.components.schemas)));
});
