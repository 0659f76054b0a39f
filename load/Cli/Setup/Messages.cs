namespace Billing.Cli.Setup;

/// <summary>What <c>./billing</c> says about its own work, apart from a command's results.</summary>
internal static class Messages
{
    public static void Say(string text) => Console.Error.WriteLine("billing: " + text);
}
