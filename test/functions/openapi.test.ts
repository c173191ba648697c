import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { problems } from '../../functions/http/http-error.ts';
import { openApiDocument } from '../../functions/http/openapi/document.ts';
import { routes } from '../../lib/http/routes.ts';

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
