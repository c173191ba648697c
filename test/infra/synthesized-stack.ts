import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { AgentSchedule } from '../../infra/agent-schedules.ts';
import { DormouseStack } from '../../infra/dormouse-stack.ts';
import { projectRoot } from '../../infra/project.ts';
import { parseSettings } from '../../infra/settings.ts';

const { context: deployedContext } = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8'));

/** Every setting the other way than by default, as far as they go together. */
export const otherSettings = {
  auth: 'jwt',
  jwtIssuer: 'https://issuer.example.com/',
  jwtAudience: 'dormouse',
  tenantClaim: 'tenant',
  strictAgents: true,
  overlap: 'allow',
  retain: false,
  stage: 'other',
  alarmEmail: 'ops@example.com',
  corsOrigins: ['https://app.example.com'],
  throttle: { rateLimit: 5, burstLimit: 10 },
};

export interface SynthesizedStack {
  readonly app: App;
  readonly stack: DormouseStack;
  readonly template: Template;
}

const synthesized = new Map<string, SynthesizedStack>();

/**
 * The stack under the context of cdk.json and these settings; its functions are not bundled. Made once in a process for
 * the same settings: look at it, but do not change it.
 */
export function synthesizedStack(
  settings: Readonly<Record<string, unknown>> = {},
  schedules: readonly AgentSchedule[] = [],
): SynthesizedStack {
  const name = JSON.stringify([settings, schedules]);
  const stack = synthesized.get(name) ?? synthesize(settings, schedules, 'false');
  synthesized.set(name, stack);
  return stack;
}

/** As `synthesizedStack`; what the CDK's own validation has to say is in the assembly. That takes seconds to start. */
export function validatedStack(
  settings: Readonly<Record<string, unknown>>,
  schedules: readonly AgentSchedule[] = [],
): SynthesizedStack {
  return synthesize(settings, schedules, 'true');
}

function synthesize(
  settings: Readonly<Record<string, unknown>>,
  schedules: readonly AgentSchedule[],
  validation: 'true' | 'false',
): SynthesizedStack {
  process.env.CDK_VALIDATION = validation;
  const app = new App({ context: { ...deployedContext, ...settings, 'aws:cdk:bundling-stacks': [] } });
  const stack = new DormouseStack(app, 'Dormouse', {
    ...parseSettings(app.node.getAllContext()),
    schedules,
    actionNames: {},
  });
  return { app, stack, template: Template.fromStack(stack) };
}

export interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is any JSON.
  readonly Properties: Record<string, any>;
}

/** The resources of a type, by logical id. */
export function resourcesOf(template: Template, type: string): Readonly<Record<string, Resource>> {
  const resources = Object.entries(template.findResources(type) as Record<string, Resource>);
  return Object.fromEntries(
    resources.map(([id, resource]) => [id, { ...resource, Properties: resource.Properties ?? {} }]),
  );
}
