using System.Net;
using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using Billing.UnitTests.Proxy.Rest;
using Billing.UnitTests.Proxy.Security;
using Billing.UnitTests.Testing;
using Billing.V1;

namespace Billing.UnitTests.Proxy.Access;

/// <summary>Every route of REST, and the pages that show or take something.</summary>
internal static class RestDoors
{
    public static IEnumerable<Door> Of(SecureProxy proxy)
    {
        var http = proxy.Http();
        var document = ApiDocument.Recorded;
        return document.Operations.Select(operation => new Door(
            "REST", char.ToUpperInvariant(operation.Id[0]) + operation.Id[1..], PaymentType.Visa,
            operation.Id == "getPaymentStatus" ? Samples.Payment().AccountId : "acct",
            (address, token) => SendAsync(http, token, operation.Request(
                Rest(proxy, address),
                document.Body(operation, ApiDocument.ValueOf, ApiDocument.IsRequired)?.ToJsonString()))));
    }

    public static IEnumerable<Door> PagesOf(SecureProxy proxy)
    {
        var http = proxy.Http();
        var document = ApiDocument.Recorded;
        var payment = document.Body(
            document.Operation("makePayment"), ApiDocument.ValueOf, ApiDocument.IsRequired)!.ToJsonString();
        return
        [
            // Of HEAD the answer has an end.
            new("page", "/live/events", PaymentType.Visa, "acct", (address, token) => SendAsync(
                http, token, new(HttpMethod.Head, new Uri(Rest(proxy, address), "/live/events")))),
            new("page", "/live/payments", PaymentType.Visa, "acct", (address, token) => SendAsync(
                http, token, new(HttpMethod.Put, new Uri(Rest(proxy, address), "/live/payments/" + Guid.NewGuid()))
                {
                    Content = new StringContent(payment, Encoding.UTF8, "application/json"),
                })),
        ];
    }

    private static Uri Rest(SecureProxy proxy, Uri address) => address == proxy.Admin ? address : proxy.Rest;

    private static async Task<Told> SendAsync(HttpClient http, string? token, HttpRequestMessage request)
    {
        using (request)
        {
            request.Headers.Authorization = token is null ? null : new AuthenticationHeaderValue("Bearer", token);
            using var answer = await http.SendAsync(request);
            if (answer.StatusCode == HttpStatusCode.OK)
            {
                return Told.In;
            }
            var reason = request.Method == HttpMethod.Head ? null
                : (await answer.Content.ReadFromJsonAsync<JsonElement>()).TryGetProperty("reason", out var said)
                ? said.GetString() : null;
            return new($"{(int)answer.StatusCode}", reason ?? "");
        }
    }
}
