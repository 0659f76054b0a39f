using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Billing.Reporting;

/// <summary>Results as they are kept in a file of JSON.</summary>
internal interface IResultFormat
{
    /// <summary>The value of the member <c>kind</c>.</summary>
    string Kind { get; }

    /// <summary>The report of results that were read.</summary>
    /// <exception cref="JsonException">They are not of the kind.</exception>
    Report ReportOf(JsonElement results);
}

/// <summary>How results of one kind are kept and shown.</summary>
/// <param name="Kind">The value of the member <c>kind</c>.</param>
/// <param name="Json">How they are kept.</param>
/// <param name="Page">How they are shown.</param>
internal sealed record ResultFormat<T>(string Kind, JsonTypeInfo<T> Json, Func<T, Report> Page) : IResultFormat
{
    public Report ReportOf(JsonElement results) => Page(results.Deserialize(Json)!);
}
