using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Billing.Reporting;

/// <summary>The format of results in a JSON file.</summary>
internal interface IResultFormat
{
    /// <summary>The value of the member <c>kind</c>.</summary>
    string Kind { get; }

    /// <summary>Creates the report of results that were read from a file.</summary>
    /// <exception cref="JsonException">The results are not of this kind.</exception>
    Report ReportOf(JsonElement results);
}

/// <summary>The JSON format and the page of one kind of results.</summary>
/// <param name="kind">The value of the member <c>kind</c>.</param>
/// <param name="json">The JSON format.</param>
/// <param name="page">Creates the page, without the statements that all pages have in common.</param>
internal sealed class ResultFormat<T>(string kind, JsonTypeInfo<T> json, Func<T, Report> page) : IResultFormat
{
    public string Kind => kind;

    /// <summary>The JSON format.</summary>
    public JsonTypeInfo<T> Json => json;

    /// <summary>Creates the page of results.</summary>
    public Report Page(T results) =>
        FailedRequests.AddTo(page(results), results is ILatencies latencies ? latencies.Failed : 0);

    public Report ReportOf(JsonElement results) => Page(results.Deserialize(json)!);
}
