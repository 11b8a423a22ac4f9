"""The messages of MCP revision 2026-07-28 as typed dictionaries, with the names of the official schema.

Type checkers read them. A dictionary literal is checked against its type:

    result: CallToolResult = {"content": [], "resultType": "complete"}

A type names the members that the schema names. A message with further members, such as an own key of `_meta`, requires
`typing.cast`. Written by `python -m tools.message_types`.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Annotations(TypedDict):
    """The definition `Annotations`."""

    audience: NotRequired[list[Role]]
    lastModified: NotRequired[str]
    priority: NotRequired[float]


class AudioContent(TypedDict):
    """The definition `AudioContent`."""

    _meta: NotRequired[MetaObject]
    annotations: NotRequired[Annotations]
    data: str
    mimeType: str
    type: Literal["audio"]


class BaseMetadata(TypedDict):
    """The definition `BaseMetadata`."""

    name: str
    title: NotRequired[str]


class BlobResourceContents(TypedDict):
    """The definition `BlobResourceContents`."""

    _meta: NotRequired[MetaObject]
    blob: str
    mimeType: NotRequired[str]
    uri: str


class BooleanSchema(TypedDict):
    """The definition `BooleanSchema`."""

    default: NotRequired[bool]
    description: NotRequired[str]
    title: NotRequired[str]
    type: Literal["boolean"]


class CacheableResult(TypedDict):
    """The definition `CacheableResult`."""

    _meta: NotRequired[ResultMetaObject]
    cacheScope: Literal["private", "public"]
    resultType: str
    ttlMs: int


class CallToolRequest(TypedDict):
    """The request `tools/call`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["tools/call"]
    params: CallToolRequestParams


class CallToolRequestParams(TypedDict):
    """The parameters of `tools/call`."""

    _meta: RequestMetaObject
    arguments: NotRequired[dict[str, Any]]
    inputResponses: NotRequired[InputResponses]
    name: str
    requestState: NotRequired[str]


class CallToolResult(TypedDict):
    """The result of `tools/call`."""

    _meta: NotRequired[ResultMetaObject]
    content: list[ContentBlock]
    isError: NotRequired[bool]
    resultType: str
    structuredContent: NotRequired[Any]


class CallToolResultResponse(TypedDict):
    """The response to `tools/call`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: InputRequiredResult | CallToolResult


class CancelledNotification(TypedDict):
    """The notification `notifications/cancelled`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/cancelled"]
    params: CancelledNotificationParams


class CancelledNotificationParams(TypedDict):
    """The parameters of `notifications/cancelled`."""

    _meta: NotRequired[NotificationMetaObject]
    reason: NotRequired[str]
    requestId: RequestId


class ClientCapabilitiesElicitation(TypedDict):
    """The member `elicitation` of `ClientCapabilities`."""

    form: NotRequired[JSONObject]
    url: NotRequired[JSONObject]


class ClientCapabilitiesSampling(TypedDict):
    """The member `sampling` of `ClientCapabilities`."""

    context: NotRequired[JSONObject]
    tools: NotRequired[JSONObject]


class ClientCapabilities(TypedDict):
    """The definition `ClientCapabilities`."""

    elicitation: NotRequired[ClientCapabilitiesElicitation]
    experimental: NotRequired[dict[str, JSONObject]]
    extensions: NotRequired[dict[str, JSONObject]]
    roots: NotRequired[dict[str, Any]]
    sampling: NotRequired[ClientCapabilitiesSampling]


class ClientNotification(TypedDict):
    """The notification `notifications/cancelled`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/cancelled"]
    params: CancelledNotificationParams


class CompleteRequest(TypedDict):
    """The request `completion/complete`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["completion/complete"]
    params: CompleteRequestParams


class CompleteRequestParamsArgument(TypedDict):
    """The member `argument` of `CompleteRequestParams`."""

    name: str
    value: str


class CompleteRequestParamsContext(TypedDict):
    """The member `context` of `CompleteRequestParams`."""

    arguments: NotRequired[dict[str, str]]


class CompleteRequestParams(TypedDict):
    """The parameters of `completion/complete`."""

    _meta: RequestMetaObject
    argument: CompleteRequestParamsArgument
    context: NotRequired[CompleteRequestParamsContext]
    ref: PromptReference | ResourceTemplateReference


class CompleteResultCompletion(TypedDict):
    """The member `completion` of `CompleteResult`."""

    hasMore: NotRequired[bool]
    total: NotRequired[int]
    values: list[str]


class CompleteResult(TypedDict):
    """The result of `completion/complete`."""

    _meta: NotRequired[ResultMetaObject]
    completion: CompleteResultCompletion
    resultType: str


class CompleteResultResponse(TypedDict):
    """The response to `completion/complete`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: CompleteResult


class CreateMessageRequest(TypedDict):
    """The request `sampling/createMessage`."""

    method: Literal["sampling/createMessage"]
    params: CreateMessageRequestParams


class CreateMessageRequestParams(TypedDict):
    """The parameters of `sampling/createMessage`."""

    includeContext: NotRequired[Literal["allServers", "none", "thisServer"]]
    maxTokens: int
    messages: list[SamplingMessage]
    metadata: NotRequired[JSONObject]
    modelPreferences: NotRequired[ModelPreferences]
    stopSequences: NotRequired[list[str]]
    systemPrompt: NotRequired[str]
    temperature: NotRequired[float]
    toolChoice: NotRequired[ToolChoice]
    tools: NotRequired[list[Tool]]


class CreateMessageResult(TypedDict):
    """The result of `sampling/createMessage`."""

    _meta: NotRequired[MetaObject]
    content: (
        TextContent
        | ImageContent
        | AudioContent
        | ToolUseContent
        | ToolResultContent
        | list[SamplingMessageContentBlock]
    )
    model: str
    role: Role
    stopReason: NotRequired[str]


class DiscoverRequest(TypedDict):
    """The request `server/discover`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["server/discover"]
    params: RequestParams


class DiscoverResult(TypedDict):
    """The result of `server/discover`."""

    _meta: NotRequired[ResultMetaObject]
    cacheScope: Literal["private", "public"]
    capabilities: ServerCapabilities
    instructions: NotRequired[str]
    resultType: str
    supportedVersions: list[str]
    ttlMs: int


class DiscoverResultResponse(TypedDict):
    """The response to `server/discover`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: DiscoverResult


class ElicitRequest(TypedDict):
    """The request `elicitation/create`."""

    method: Literal["elicitation/create"]
    params: ElicitRequestParams


class ElicitRequestFormParams(TypedDict):
    """The definition `ElicitRequestFormParams`."""

    message: str
    mode: NotRequired[Literal["form"]]
    requestedSchema: ElicitRequestFormParamsRequestedSchema


class ElicitRequestURLParams(TypedDict):
    """The definition `ElicitRequestURLParams`."""

    message: str
    mode: Literal["url"]
    url: str


class ElicitResult(TypedDict):
    """The result of `elicitation/create`."""

    action: Literal["accept", "cancel", "decline"]
    content: NotRequired[dict[str, list[str] | str | float | bool]]


class EmbeddedResource(TypedDict):
    """The definition `EmbeddedResource`."""

    _meta: NotRequired[MetaObject]
    annotations: NotRequired[Annotations]
    resource: TextResourceContents | BlobResourceContents
    type: Literal["resource"]


class Error(TypedDict):
    """The definition `Error`."""

    code: int
    data: NotRequired[Any]
    message: str


class GetPromptRequest(TypedDict):
    """The request `prompts/get`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["prompts/get"]
    params: GetPromptRequestParams


class GetPromptRequestParams(TypedDict):
    """The parameters of `prompts/get`."""

    _meta: RequestMetaObject
    arguments: NotRequired[dict[str, str]]
    inputResponses: NotRequired[InputResponses]
    name: str
    requestState: NotRequired[str]


class GetPromptResult(TypedDict):
    """The result of `prompts/get`."""

    _meta: NotRequired[ResultMetaObject]
    description: NotRequired[str]
    messages: list[PromptMessage]
    resultType: str


class GetPromptResultResponse(TypedDict):
    """The response to `prompts/get`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: InputRequiredResult | GetPromptResult


class HeaderMismatchErrorError(TypedDict):
    """The member `error` of `HeaderMismatchError`."""

    code: Literal[-32020]
    data: NotRequired[Any]
    message: str


class HeaderMismatchError(TypedDict):
    """The definition `HeaderMismatchError`."""

    error: HeaderMismatchErrorError
    id: NotRequired[RequestId]
    jsonrpc: Literal["2.0"]


class Icon(TypedDict):
    """The definition `Icon`."""

    mimeType: NotRequired[str]
    sizes: NotRequired[list[str]]
    src: str
    theme: NotRequired[Literal["dark", "light"]]


class Icons(TypedDict):
    """The definition `Icons`."""

    icons: NotRequired[list[Icon]]


class ImageContent(TypedDict):
    """The definition `ImageContent`."""

    _meta: NotRequired[MetaObject]
    annotations: NotRequired[Annotations]
    data: str
    mimeType: str
    type: Literal["image"]


class Implementation(TypedDict):
    """The definition `Implementation`."""

    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    name: str
    title: NotRequired[str]
    version: str
    websiteUrl: NotRequired[str]


class InputRequiredResult(TypedDict):
    """The definition `InputRequiredResult`."""

    _meta: NotRequired[ResultMetaObject]
    inputRequests: NotRequired[InputRequests]
    requestState: NotRequired[str]
    resultType: str


class InputResponseRequestParams(TypedDict):
    """The definition `InputResponseRequestParams`."""

    _meta: RequestMetaObject
    inputResponses: NotRequired[InputResponses]
    requestState: NotRequired[str]


class InternalError(TypedDict):
    """The definition `InternalError`."""

    code: Literal[-32603]
    data: NotRequired[Any]
    message: str


class InvalidParamsError(TypedDict):
    """The definition `InvalidParamsError`."""

    code: Literal[-32602]
    data: NotRequired[Any]
    message: str


class InvalidRequestError(TypedDict):
    """The definition `InvalidRequestError`."""

    code: Literal[-32600]
    data: NotRequired[Any]
    message: str


class JSONRPCErrorResponse(TypedDict):
    """The definition `JSONRPCErrorResponse`."""

    error: Error
    id: NotRequired[RequestId]
    jsonrpc: Literal["2.0"]


class JSONRPCNotification(TypedDict):
    """The definition `JSONRPCNotification`."""

    jsonrpc: Literal["2.0"]
    method: str
    params: NotRequired[dict[str, Any]]


class JSONRPCRequest(TypedDict):
    """The definition `JSONRPCRequest`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: str
    params: NotRequired[dict[str, Any]]


class JSONRPCResultResponse(TypedDict):
    """The definition `JSONRPCResultResponse`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: Result


class LegacyTitledEnumSchema(TypedDict):
    """The definition `LegacyTitledEnumSchema`."""

    default: NotRequired[str]
    description: NotRequired[str]
    enum: list[str]
    enumNames: NotRequired[list[str]]
    title: NotRequired[str]
    type: Literal["string"]


class ListPromptsRequest(TypedDict):
    """The request `prompts/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["prompts/list"]
    params: PaginatedRequestParams


class ListPromptsResult(TypedDict):
    """The result of `prompts/list`."""

    _meta: NotRequired[ResultMetaObject]
    cacheScope: Literal["private", "public"]
    nextCursor: NotRequired[str]
    prompts: list[Prompt]
    resultType: str
    ttlMs: int


class ListPromptsResultResponse(TypedDict):
    """The response to `prompts/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: ListPromptsResult


class ListResourceTemplatesRequest(TypedDict):
    """The request `resources/templates/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["resources/templates/list"]
    params: PaginatedRequestParams


class ListResourceTemplatesResult(TypedDict):
    """The result of `resources/templates/list`."""

    _meta: NotRequired[ResultMetaObject]
    cacheScope: Literal["private", "public"]
    nextCursor: NotRequired[str]
    resourceTemplates: list[ResourceTemplate]
    resultType: str
    ttlMs: int


class ListResourceTemplatesResultResponse(TypedDict):
    """The response to `resources/templates/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: ListResourceTemplatesResult


class ListResourcesRequest(TypedDict):
    """The request `resources/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["resources/list"]
    params: PaginatedRequestParams


class ListResourcesResult(TypedDict):
    """The result of `resources/list`."""

    _meta: NotRequired[ResultMetaObject]
    cacheScope: Literal["private", "public"]
    nextCursor: NotRequired[str]
    resources: list[Resource]
    resultType: str
    ttlMs: int


class ListResourcesResultResponse(TypedDict):
    """The response to `resources/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: ListResourcesResult


class ListRootsRequestParams(TypedDict):
    """The member `params` of `ListRootsRequest`."""

    _meta: NotRequired[MetaObject]


class ListRootsRequest(TypedDict):
    """The request `roots/list`."""

    method: Literal["roots/list"]
    params: NotRequired[ListRootsRequestParams]


class ListRootsResult(TypedDict):
    """The result of `roots/list`."""

    roots: list[Root]


class ListToolsRequest(TypedDict):
    """The request `tools/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["tools/list"]
    params: PaginatedRequestParams


class ListToolsResult(TypedDict):
    """The result of `tools/list`."""

    _meta: NotRequired[ResultMetaObject]
    cacheScope: Literal["private", "public"]
    nextCursor: NotRequired[str]
    resultType: str
    tools: list[Tool]
    ttlMs: int


class ListToolsResultResponse(TypedDict):
    """The response to `tools/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: ListToolsResult


class LoggingMessageNotification(TypedDict):
    """The notification `notifications/message`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/message"]
    params: LoggingMessageNotificationParams


class LoggingMessageNotificationParams(TypedDict):
    """The parameters of `notifications/message`."""

    _meta: NotRequired[NotificationMetaObject]
    data: Any
    level: LoggingLevel
    logger: NotRequired[str]


class MethodNotFoundError(TypedDict):
    """The definition `MethodNotFoundError`."""

    code: Literal[-32601]
    data: NotRequired[Any]
    message: str


class MissingRequiredClientCapabilityErrorErrorData(TypedDict):
    """The member `data` of `MissingRequiredClientCapabilityErrorError`."""

    requiredCapabilities: ClientCapabilities


class MissingRequiredClientCapabilityErrorError(TypedDict):
    """The member `error` of `MissingRequiredClientCapabilityError`."""

    code: Literal[-32021]
    data: MissingRequiredClientCapabilityErrorErrorData
    message: str


class MissingRequiredClientCapabilityError(TypedDict):
    """The definition `MissingRequiredClientCapabilityError`."""

    error: MissingRequiredClientCapabilityErrorError
    id: NotRequired[RequestId]
    jsonrpc: Literal["2.0"]


class ModelHint(TypedDict):
    """The definition `ModelHint`."""

    name: NotRequired[str]


class ModelPreferences(TypedDict):
    """The definition `ModelPreferences`."""

    costPriority: NotRequired[float]
    hints: NotRequired[list[ModelHint]]
    intelligencePriority: NotRequired[float]
    speedPriority: NotRequired[float]


class Notification(TypedDict):
    """The definition `Notification`."""

    method: str
    params: NotRequired[dict[str, Any]]


class NotificationParams(TypedDict):
    """The definition `NotificationParams`."""

    _meta: NotRequired[NotificationMetaObject]


class NumberSchema(TypedDict):
    """The definition `NumberSchema`."""

    default: NotRequired[float]
    description: NotRequired[str]
    maximum: NotRequired[float]
    minimum: NotRequired[float]
    title: NotRequired[str]
    type: Literal["integer", "number"]


class PaginatedRequest(TypedDict):
    """The definition `PaginatedRequest`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: str
    params: PaginatedRequestParams


class PaginatedRequestParams(TypedDict):
    """The definition `PaginatedRequestParams`."""

    _meta: RequestMetaObject
    cursor: NotRequired[str]


class PaginatedResult(TypedDict):
    """The definition `PaginatedResult`."""

    _meta: NotRequired[ResultMetaObject]
    nextCursor: NotRequired[str]
    resultType: str


class ParseError(TypedDict):
    """The definition `ParseError`."""

    code: Literal[-32700]
    data: NotRequired[Any]
    message: str


class ProgressNotification(TypedDict):
    """The notification `notifications/progress`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/progress"]
    params: ProgressNotificationParams


class ProgressNotificationParams(TypedDict):
    """The parameters of `notifications/progress`."""

    _meta: NotRequired[NotificationMetaObject]
    message: NotRequired[str]
    progress: float
    progressToken: ProgressToken
    total: NotRequired[float]


class Prompt(TypedDict):
    """The definition `Prompt`."""

    _meta: NotRequired[MetaObject]
    arguments: NotRequired[list[PromptArgument]]
    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    name: str
    title: NotRequired[str]


class PromptArgument(TypedDict):
    """The definition `PromptArgument`."""

    description: NotRequired[str]
    name: str
    required: NotRequired[bool]
    title: NotRequired[str]


class PromptListChangedNotification(TypedDict):
    """The notification `notifications/prompts/list_changed`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/prompts/list_changed"]
    params: NotRequired[NotificationParams]


class PromptMessage(TypedDict):
    """The definition `PromptMessage`."""

    content: ContentBlock
    role: Role


class PromptReference(TypedDict):
    """The definition `PromptReference`."""

    name: str
    title: NotRequired[str]
    type: Literal["ref/prompt"]


class ReadResourceRequest(TypedDict):
    """The request `resources/read`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["resources/read"]
    params: ReadResourceRequestParams


class ReadResourceRequestParams(TypedDict):
    """The parameters of `resources/read`."""

    _meta: RequestMetaObject
    inputResponses: NotRequired[InputResponses]
    requestState: NotRequired[str]
    uri: str


class ReadResourceResult(TypedDict):
    """The result of `resources/read`."""

    _meta: NotRequired[ResultMetaObject]
    cacheScope: Literal["private", "public"]
    contents: list[TextResourceContents | BlobResourceContents]
    resultType: str
    ttlMs: int


class ReadResourceResultResponse(TypedDict):
    """The response to `resources/read`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: InputRequiredResult | ReadResourceResult


class Request(TypedDict):
    """The definition `Request`."""

    method: str
    params: NotRequired[dict[str, Any]]


class RequestParams(TypedDict):
    """The definition `RequestParams`."""

    _meta: RequestMetaObject


class Resource(TypedDict):
    """The definition `Resource`."""

    _meta: NotRequired[MetaObject]
    annotations: NotRequired[Annotations]
    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    mimeType: NotRequired[str]
    name: str
    size: NotRequired[int]
    title: NotRequired[str]
    uri: str


class ResourceContents(TypedDict):
    """The definition `ResourceContents`."""

    _meta: NotRequired[MetaObject]
    mimeType: NotRequired[str]
    uri: str


class ResourceLink(TypedDict):
    """The definition `ResourceLink`."""

    _meta: NotRequired[MetaObject]
    annotations: NotRequired[Annotations]
    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    mimeType: NotRequired[str]
    name: str
    size: NotRequired[int]
    title: NotRequired[str]
    type: Literal["resource_link"]
    uri: str


class ResourceListChangedNotification(TypedDict):
    """The notification `notifications/resources/list_changed`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/resources/list_changed"]
    params: NotRequired[NotificationParams]


class ResourceRequestParams(TypedDict):
    """The definition `ResourceRequestParams`."""

    _meta: RequestMetaObject
    uri: str


class ResourceTemplate(TypedDict):
    """The definition `ResourceTemplate`."""

    _meta: NotRequired[MetaObject]
    annotations: NotRequired[Annotations]
    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    mimeType: NotRequired[str]
    name: str
    title: NotRequired[str]
    uriTemplate: str


class ResourceTemplateReference(TypedDict):
    """The definition `ResourceTemplateReference`."""

    type: Literal["ref/resource"]
    uri: str


class ResourceUpdatedNotification(TypedDict):
    """The notification `notifications/resources/updated`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/resources/updated"]
    params: ResourceUpdatedNotificationParams


class ResourceUpdatedNotificationParams(TypedDict):
    """The parameters of `notifications/resources/updated`."""

    _meta: NotRequired[NotificationMetaObject]
    uri: str


class Result(TypedDict):
    """The definition `Result`."""

    _meta: NotRequired[ResultMetaObject]
    resultType: str


class Root(TypedDict):
    """The definition `Root`."""

    _meta: NotRequired[MetaObject]
    name: NotRequired[str]
    uri: str


class SamplingMessage(TypedDict):
    """The definition `SamplingMessage`."""

    _meta: NotRequired[MetaObject]
    content: (
        TextContent
        | ImageContent
        | AudioContent
        | ToolUseContent
        | ToolResultContent
        | list[SamplingMessageContentBlock]
    )
    role: Role


class ServerCapabilitiesPrompts(TypedDict):
    """The member `prompts` of `ServerCapabilities`."""

    listChanged: NotRequired[bool]


class ServerCapabilitiesResources(TypedDict):
    """The member `resources` of `ServerCapabilities`."""

    listChanged: NotRequired[bool]
    subscribe: NotRequired[bool]


class ServerCapabilitiesTools(TypedDict):
    """The member `tools` of `ServerCapabilities`."""

    listChanged: NotRequired[bool]


class ServerCapabilities(TypedDict):
    """The definition `ServerCapabilities`."""

    completions: NotRequired[JSONObject]
    experimental: NotRequired[dict[str, JSONObject]]
    extensions: NotRequired[dict[str, JSONObject]]
    logging: NotRequired[JSONObject]
    prompts: NotRequired[ServerCapabilitiesPrompts]
    resources: NotRequired[ServerCapabilitiesResources]
    tools: NotRequired[ServerCapabilitiesTools]


class StringSchema(TypedDict):
    """The definition `StringSchema`."""

    default: NotRequired[str]
    description: NotRequired[str]
    format: NotRequired[Literal["date", "date-time", "email", "uri"]]
    maxLength: NotRequired[int]
    minLength: NotRequired[int]
    title: NotRequired[str]
    type: Literal["string"]


class SubscriptionFilter(TypedDict):
    """The definition `SubscriptionFilter`."""

    promptsListChanged: NotRequired[bool]
    resourceSubscriptions: NotRequired[list[str]]
    resourcesListChanged: NotRequired[bool]
    toolsListChanged: NotRequired[bool]


class SubscriptionsAcknowledgedNotification(TypedDict):
    """The notification `notifications/subscriptions/acknowledged`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/subscriptions/acknowledged"]
    params: SubscriptionsAcknowledgedNotificationParams


class SubscriptionsAcknowledgedNotificationParams(TypedDict):
    """The parameters of `notifications/subscriptions/acknowledged`."""

    _meta: NotRequired[NotificationMetaObject]
    notifications: SubscriptionFilter


class SubscriptionsListenRequest(TypedDict):
    """The request `subscriptions/listen`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["subscriptions/listen"]
    params: SubscriptionsListenRequestParams


class SubscriptionsListenRequestParams(TypedDict):
    """The parameters of `subscriptions/listen`."""

    _meta: RequestMetaObject
    notifications: SubscriptionFilter


class SubscriptionsListenResult(TypedDict):
    """The result of `subscriptions/listen`."""

    _meta: SubscriptionsListenResultMetaObject
    resultType: str


class SubscriptionsListenResultResponse(TypedDict):
    """The response to `subscriptions/listen`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: SubscriptionsListenResult


class TextContent(TypedDict):
    """The definition `TextContent`."""

    _meta: NotRequired[MetaObject]
    annotations: NotRequired[Annotations]
    text: str
    type: Literal["text"]


class TextResourceContents(TypedDict):
    """The definition `TextResourceContents`."""

    _meta: NotRequired[MetaObject]
    mimeType: NotRequired[str]
    text: str
    uri: str


class TitledMultiSelectEnumSchemaItemsAnyOf(TypedDict):
    """The member `anyOf` of `TitledMultiSelectEnumSchemaItems`."""

    const: str
    title: str


class TitledMultiSelectEnumSchemaItems(TypedDict):
    """The member `items` of `TitledMultiSelectEnumSchema`."""

    anyOf: list[TitledMultiSelectEnumSchemaItemsAnyOf]


class TitledMultiSelectEnumSchema(TypedDict):
    """The definition `TitledMultiSelectEnumSchema`."""

    default: NotRequired[list[str]]
    description: NotRequired[str]
    items: TitledMultiSelectEnumSchemaItems
    maxItems: NotRequired[int]
    minItems: NotRequired[int]
    title: NotRequired[str]
    type: Literal["array"]


class TitledSingleSelectEnumSchemaOneOf(TypedDict):
    """The member `oneOf` of `TitledSingleSelectEnumSchema`."""

    const: str
    title: str


class TitledSingleSelectEnumSchema(TypedDict):
    """The definition `TitledSingleSelectEnumSchema`."""

    default: NotRequired[str]
    description: NotRequired[str]
    oneOf: list[TitledSingleSelectEnumSchemaOneOf]
    title: NotRequired[str]
    type: Literal["string"]


class Tool(TypedDict):
    """The definition `Tool`."""

    _meta: NotRequired[MetaObject]
    annotations: NotRequired[ToolAnnotations]
    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    inputSchema: dict[str, Any]
    name: str
    outputSchema: NotRequired[dict[str, Any]]
    title: NotRequired[str]


class ToolAnnotations(TypedDict):
    """The definition `ToolAnnotations`."""

    destructiveHint: NotRequired[bool]
    idempotentHint: NotRequired[bool]
    openWorldHint: NotRequired[bool]
    readOnlyHint: NotRequired[bool]
    title: NotRequired[str]


class ToolChoice(TypedDict):
    """The definition `ToolChoice`."""

    mode: NotRequired[Literal["auto", "none", "required"]]


class ToolListChangedNotification(TypedDict):
    """The notification `notifications/tools/list_changed`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/tools/list_changed"]
    params: NotRequired[NotificationParams]


class ToolResultContent(TypedDict):
    """The definition `ToolResultContent`."""

    _meta: NotRequired[MetaObject]
    content: list[ContentBlock]
    isError: NotRequired[bool]
    structuredContent: NotRequired[Any]
    toolUseId: str
    type: Literal["tool_result"]


class ToolUseContent(TypedDict):
    """The definition `ToolUseContent`."""

    _meta: NotRequired[MetaObject]
    id: str
    input: dict[str, Any]
    name: str
    type: Literal["tool_use"]


class UnsupportedProtocolVersionErrorErrorData(TypedDict):
    """The member `data` of `UnsupportedProtocolVersionErrorError`."""

    requested: str
    supported: list[str]


class UnsupportedProtocolVersionErrorError(TypedDict):
    """The member `error` of `UnsupportedProtocolVersionError`."""

    code: Literal[-32022]
    data: UnsupportedProtocolVersionErrorErrorData
    message: str


class UnsupportedProtocolVersionError(TypedDict):
    """The definition `UnsupportedProtocolVersionError`."""

    error: UnsupportedProtocolVersionErrorError
    id: NotRequired[RequestId]
    jsonrpc: Literal["2.0"]


class UntitledMultiSelectEnumSchemaItems(TypedDict):
    """The member `items` of `UntitledMultiSelectEnumSchema`."""

    enum: list[str]
    type: Literal["string"]


class UntitledMultiSelectEnumSchema(TypedDict):
    """The definition `UntitledMultiSelectEnumSchema`."""

    default: NotRequired[list[str]]
    description: NotRequired[str]
    items: UntitledMultiSelectEnumSchemaItems
    maxItems: NotRequired[int]
    minItems: NotRequired[int]
    title: NotRequired[str]
    type: Literal["array"]


class UntitledSingleSelectEnumSchema(TypedDict):
    """The definition `UntitledSingleSelectEnumSchema`."""

    default: NotRequired[str]
    description: NotRequired[str]
    enum: list[str]
    title: NotRequired[str]
    type: Literal["string"]


ClientRequest: TypeAlias = (
    DiscoverRequest
    | ListResourcesRequest
    | ListResourceTemplatesRequest
    | ReadResourceRequest
    | SubscriptionsListenRequest
    | ListPromptsRequest
    | GetPromptRequest
    | ListToolsRequest
    | CallToolRequest
    | CompleteRequest
)


ClientResult: TypeAlias = Result


ContentBlock: TypeAlias = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


Cursor: TypeAlias = str


ElicitRequestParams: TypeAlias = ElicitRequestFormParams | ElicitRequestURLParams


EmptyResult: TypeAlias = Result


EnumSchema: TypeAlias = (
    UntitledSingleSelectEnumSchema
    | TitledSingleSelectEnumSchema
    | UntitledMultiSelectEnumSchema
    | TitledMultiSelectEnumSchema
    | LegacyTitledEnumSchema
)


InputRequest: TypeAlias = CreateMessageRequest | ListRootsRequest | ElicitRequest


InputResponse: TypeAlias = CreateMessageResult | ListRootsResult | ElicitResult


JSONRPCMessage: TypeAlias = JSONRPCRequest | JSONRPCNotification | JSONRPCResultResponse | JSONRPCErrorResponse


JSONRPCResponse: TypeAlias = JSONRPCResultResponse | JSONRPCErrorResponse


LoggingLevel: TypeAlias = Literal["alert", "critical", "debug", "emergency", "error", "info", "notice", "warning"]


MetaObject: TypeAlias = dict[str, Any]


MultiSelectEnumSchema: TypeAlias = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema


PrimitiveSchemaDefinition: TypeAlias = (
    StringSchema
    | NumberSchema
    | BooleanSchema
    | UntitledSingleSelectEnumSchema
    | TitledSingleSelectEnumSchema
    | UntitledMultiSelectEnumSchema
    | TitledMultiSelectEnumSchema
    | LegacyTitledEnumSchema
)


ProgressToken: TypeAlias = str | int


RequestId: TypeAlias = str | int


ResultType: TypeAlias = str


Role: TypeAlias = Literal["assistant", "user"]


SamplingMessageContentBlock: TypeAlias = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent


ServerNotification: TypeAlias = (
    CancelledNotification
    | ProgressNotification
    | ResourceListChangedNotification
    | SubscriptionsAcknowledgedNotification
    | ResourceUpdatedNotification
    | PromptListChangedNotification
    | ToolListChangedNotification
    | LoggingMessageNotification
)


ServerResult: TypeAlias = (
    Result
    | InputRequiredResult
    | DiscoverResult
    | ListResourcesResult
    | ListResourceTemplatesResult
    | ReadResourceResult
    | SubscriptionsListenResult
    | ListPromptsResult
    | GetPromptResult
    | ListToolsResult
    | CallToolResult
    | CompleteResult
)


SingleSelectEnumSchema: TypeAlias = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema


InputRequests: TypeAlias = dict[str, InputRequest]


InputResponses: TypeAlias = dict[str, InputResponse]


JSONArray: TypeAlias = "list[JSONValue]"


JSONObject: TypeAlias = "dict[str, JSONValue]"


JSONValue: TypeAlias = "JSONObject | list[JSONValue] | str | float | bool | None"


ElicitRequestFormParamsRequestedSchema = TypedDict(
    "ElicitRequestFormParamsRequestedSchema",
    {
        "$schema": "NotRequired[str]",
        "properties": "dict[str, PrimitiveSchemaDefinition]",
        "required": "NotRequired[list[str]]",
        "type": 'Literal["object"]',
    },
)
"""The member `requestedSchema` of `ElicitRequestFormParams`."""


NotificationMetaObject = TypedDict(
    "NotificationMetaObject",
    {
        "io.modelcontextprotocol/subscriptionId": "NotRequired[RequestId]",
    },
)
"""The definition `NotificationMetaObject`."""


RequestMetaObject = TypedDict(
    "RequestMetaObject",
    {
        "io.modelcontextprotocol/clientCapabilities": "ClientCapabilities",
        "io.modelcontextprotocol/clientInfo": "NotRequired[Implementation]",
        "io.modelcontextprotocol/logLevel": "NotRequired[LoggingLevel]",
        "io.modelcontextprotocol/protocolVersion": "str",
        "progressToken": "NotRequired[ProgressToken]",
    },
)
"""The definition `RequestMetaObject`."""


ResultMetaObject = TypedDict(
    "ResultMetaObject",
    {
        "io.modelcontextprotocol/serverInfo": "NotRequired[Implementation]",
    },
)
"""The definition `ResultMetaObject`."""


SubscriptionsListenResultMetaObject = TypedDict(
    "SubscriptionsListenResultMetaObject",
    {
        "io.modelcontextprotocol/serverInfo": "NotRequired[Implementation]",
        "io.modelcontextprotocol/subscriptionId": "RequestId",
    },
)
"""The definition `SubscriptionsListenResultMetaObject`."""
