using Billing.LocalStack.Processes;

namespace Billing.Cli.Setup;

/// <summary>The clone of the repository that <c>./billing</c> started this program from.</summary>
/// <param name="Root">Its folder.</param>
/// <param name="State">The folder for what <c>./billing</c> keeps for this clone.</param>
/// <param name="Cache">The folder for what it keeps for all clones.</param>
/// <param name="PackageAnswer">The settings for MSBuild about packages.</param>
internal sealed record Clone(string Root, string State, string Cache, string PackageAnswer)
{
    /// <summary>The clone; null if another program, or the user, started this one.</summary>
    public static Clone? OfScript { get; } = Variable("BILLING_ROOT") is { } root && Variable("BILLING_STATE") is { } state
        && Variable("BILLING_CACHE") is { } cache && Variable("BILLING_PACKAGE_ANSWER") is { } answer
        ? new Clone(root, state, cache, answer)
        : null;

    /// <summary>The clone, for a command that cannot do without.</summary>
    /// <exception cref="StackException">Another program, or the user, started this one.</exception>
    public static Clone Needed => OfScript ?? throw new StackException("this command runs in a clone of the repository: start it with ./billing");

    private static string? Variable(string name) => Environment.GetEnvironmentVariable(name) is { Length: > 0 } value ? value : null;
}
